import { EvaluateRequest, EvaluateResponse } from "@presage/contract";
import { z } from "zod";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { body, errorResponse, operationWithOldNames, response, unavailable } from "../http/describe.ts";
import { exampleEvaluation, exampleResult } from "./example-result.ts";

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
    post: operationWithOldNames("evaluate", "evaluation", "Evaluate a sample with one or more evaluators", {
      description:
        "Runs 1 to 20 evaluators on one sample, concurrently, and stores the results before it responds. A family's `required_input_fields` and `optional_input_fields` say which texts its evaluators read. An evaluator that fails does not make the request fail: its outcome has a status and an error message instead of a verdict.",
      requestParams: { header: headers },
      requestBody: body(EvaluateRequest, exampleEvaluation),
      responses: {
        "200": response("The outcome of each evaluator, in request order", EvaluateResponse, {
          results: [
            {
              evaluator_id: "edit-distance-2026-11-21",
              profile_name: "system:default",
              criteria: "system:default",
              status: "success",
              error_message: null,
              evaluation_result: exampleResult,
              criterion_id: "edit-distance-2026-11-21",
              result: exampleResult,
            },
          ],
        }),
        "409": errorResponse(
          "evaluation_run_id is a run whose results Presage makes",
          "019aa5f6-7d10-7000-8c3e-0b6f5a2d9c41 is a run whose results Presage makes. Leave evaluation_run_id out, or name an experiment.",
        ),
        "413": errorResponse(
          "The body is too large, or its texts are too long for this many evaluators",
          "20 evaluators × 2000000 characters exceed the limit of 33554432; use at most 16 evaluators in one request.",
        ),
        "429": errorResponse(
          "The rate of the key or its account was reached, or one of them has too many requests in progress (rate_limit)",
          "At most 120 evaluation requests per minute are allowed for an account.",
          { category: "rate_limit" },
        ),
        "503": {
          ...unavailable["503"],
          description:
            "The database is unavailable, too many evaluations are in progress, or the server is out of memory for this request, and nothing was stored; or the database did not confirm the results, which may or may not be stored",
        },
      },
    }),
  },
};
