import { ErrorResponse, MeResponse, WhoAmIResponse } from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { operation, response, unauthorized, unavailable } from "../docs/describe.ts";

export const mePaths: ZodOpenApiPathsObject = {
  "/v1/me": {
    get: operation("getMe", "dashboard", "Show the calling user", {
      responses: {
        "200": response("The user", MeResponse),
        ...unauthorized,
        "404": response("The calling user no longer exists", ErrorResponse),
        ...unavailable,
      },
    }),
  },
  "/v1/whoami": {
    get: operation("whoAmI", "dashboard", "Show the calling key and its account", {
      responses: {
        "200": response("The key and the account", WhoAmIResponse),
        "404": response("The key's account no longer exists", ErrorResponse),
        ...unauthorized,
        ...unavailable,
      },
    }),
  },
};
