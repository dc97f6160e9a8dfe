import {
  AppListQuery,
  AppListResponse,
  ErrorResponse,
  EvaluatorFamilyListResponse,
  EvaluatorListResponse,
  WhoAmIResponse,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { invalidRequest, operation, response, unauthorized, unavailable } from "../docs/describe.ts";

const failures = { ...unauthorized, ...unavailable };

export const evaluatorPaths: ZodOpenApiPathsObject = {
  "/v1/evaluators": {
    get: operation("listEvaluators", "evaluators", "List every version of every evaluator family", {
      responses: { "200": response("The evaluators, by id", EvaluatorListResponse), ...failures },
    }),
  },
  "/v1/evaluator-families": {
    get: operation("listEvaluatorFamilies", "evaluators", "List the evaluator families", {
      responses: {
        "200": response("The families, with the schema of their profiles", EvaluatorFamilyListResponse),
        ...failures,
      },
    }),
  },
  "/v1/whoami": {
    get: operation("whoAmI", "dashboard", "Show the calling key and its account", {
      responses: {
        "200": response("The key and the account", WhoAmIResponse),
        "404": response("The key's account no longer exists", ErrorResponse),
        ...failures,
      },
    }),
  },
  "/v1/apps": {
    get: operation("listApps", "evaluators", "List the apps that have results", {
      requestParams: { query: AppListQuery },
      responses: { "200": response("The apps, by name", AppListResponse), ...invalidRequest, ...failures },
    }),
  },
};
