import {
  AppListQuery,
  AppListResponse,
  ErrorResponse,
  EvaluatorFamilyListResponse,
  EvaluatorListResponse,
  WhoAmIResponse,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { answer, notValid, operation, storeUnavailable, unauthenticated } from "../docs/describe.ts";

const failures = { ...unauthenticated, ...storeUnavailable };

export const evaluatorPaths: ZodOpenApiPathsObject = {
  "/v1/evaluators": {
    get: operation("listEvaluators", "evaluators", "List every version of every family of evaluators", {
      responses: { "200": answer("The evaluators, by id", EvaluatorListResponse), ...failures },
    }),
  },
  "/v1/evaluator-families": {
    get: operation("listEvaluatorFamilies", "evaluators", "List the families of evaluators", {
      responses: {
        "200": answer("The families and how their profiles look", EvaluatorFamilyListResponse),
        ...failures,
      },
    }),
  },
  "/v1/whoami": {
    get: operation("whoAmI", "dashboard", "Show the calling key and its account", {
      responses: {
        "200": answer("The key and the account", WhoAmIResponse),
        "404": answer("The key's account does not exist any more", ErrorResponse),
        ...failures,
      },
    }),
  },
  "/v1/apps": {
    get: operation("listApps", "evaluators", "List the apps that have results", {
      requestParams: { query: AppListQuery },
      responses: { "200": answer("The apps, by name", AppListResponse), ...notValid, ...failures },
    }),
  },
};
