import { MeResponse, WhoAmIResponse } from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { errorResponse, operation, response } from "../http/describe.ts";

export const mePaths: ZodOpenApiPathsObject = {
  "/v1/me": {
    get: operation("getMe", "dashboard", "Show the calling user", {
      description: "Shows the user that the key or session of the request belongs to.",
      responses: {
        "200": response("The user", MeResponse, {
          id: "01a2015d-17ca-76a5-aa4f-c26a65d9cd6e",
          email: "sam@example.com",
          name: "Sam Doe",
          oidc_issuer: "https://accounts.example.com",
          oidc_subject: "248289761001",
          role: "member",
          capture: { setting: "off", max_age_days: 30 },
          server_version: "0.1.0",
        }),
        "404": errorResponse("The calling user no longer exists", "The calling user no longer exists."),
      },
    }),
  },
  "/v1/whoami": {
    get: operation("whoAmI", "dashboard", "Show the calling key and its account", {
      description: "Shows the key or session of the request, and the account that it belongs to.",
      responses: {
        "200": response("The key and the account", WhoAmIResponse, {
          caller: {
            api_key: {
              id: "01a2015d-17cc-778e-bb65-bb9788f05399",
              account: { id: "01a2015d-17ca-76a6-84a3-fcf32365f7d8", name: "default" },
              role: "owner",
              scopes: null,
            },
          },
        }),
        "404": errorResponse("The key's account no longer exists", "The caller's account no longer exists."),
      },
    }),
  },
};
