import { ErrorResponse, EvaluateRequest, EvaluateResponse } from "@presage/contract";
import { z } from "zod";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import {
  body,
  invalidRequest,
  operation,
  response,
  unauthorized,
  withDeprecation,
} from "../docs/describe.ts";

const headers = z.object({
  "Idempotency-Key": z
    .string()
    .regex(/^[!-~]{1,200}$/)
    .optional()
    .meta({
      description:
        "Identifies the request, so that it can be retried safely: a repeated request gets the stored verdicts. If both arrive at the same time, the second waits for the first.",
    }),
});

export const evaluatePaths: ZodOpenApiPathsObject = {
  "/v1/evaluate": {
    post: operation("evaluate", "evaluation", "Evaluate a sample with one or more evaluators", {
      requestParams: { header: headers },
      requestBody: body(EvaluateRequest),
      responses: withDeprecation({
        "200": response("The outcome of each evaluator, in request order", EvaluateResponse),
        ...unauthorized,
        ...invalidRequest,
        "413": response(
          "The body is too large, or its texts are too long for this many evaluators",
          ErrorResponse,
        ),
        "503": response(
          "The database is unavailable, or too many evaluations are in progress",
          ErrorResponse,
        ),
      }),
    }),
  },
};
