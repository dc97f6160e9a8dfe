import { AppListQuery, AppListResponse } from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { operation, response } from "../../http/describe.ts";

export const appPaths: ZodOpenApiPathsObject = {
  "/v1/apps": {
    get: operation("listApps", "evaluators", "List the apps that have results", {
      description:
        "Lists the names under `app` in the account's results. An app exists as soon as it has a result.",
      requestParams: { query: AppListQuery },
      responses: {
        "200": response("The apps, by name", AppListResponse, { apps: [{ name: "night-runs" }], next: null }),
      },
    }),
  },
};
