import { EvaluatorFamilyListResponse, EvaluatorListResponse } from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { operation, response, unauthorized, unavailable } from "../docs/describe.ts";

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
};
