import { ErrorResponse, EvaluateRequest, EvaluateResponse } from "@presage/contract";
import { z } from "zod";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { answer, body, notValid, operation, unauthenticated, withDeprecation } from "../docs/describe.ts";

const headers = z.object({
  "Idempotency-Key": z
    .string()
    .regex(/^[!-~]{1,200}$/)
    .optional()
    .meta({
      description:
        "The caller's word for this request. Sent again under it, a verdict that was kept is answered again; at the same moment, the second request waits for the first.",
    }),
});

export const evaluatePaths: ZodOpenApiPathsObject = {
  "/v1/evaluate": {
    post: operation("evaluate", "evaluation", "Evaluate a sample with one evaluator or several", {
      requestParams: { header: headers },
      requestBody: body(EvaluateRequest),
      responses: withDeprecation({
        "200": answer("What each evaluator found, in the order of the request", EvaluateResponse),
        ...unauthenticated,
        ...notValid,
        "413": answer("The body is too large, or its texts for so many evaluators", ErrorResponse),
        "503": answer("The store cannot be reached, or too many evaluations are under way", ErrorResponse),
      }),
    }),
  },
};
