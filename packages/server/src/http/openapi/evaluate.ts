import { ErrorResponse, EvaluateRequest, EvaluateResponse } from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import {
  answer,
  body,
  notValid,
  operation,
  storeUnavailable,
  tooLarge,
  unauthenticated,
} from "./describe.ts";

export const evaluatePaths: ZodOpenApiPathsObject = {
  "/v1/evaluate": {
    post: operation("evaluate", "evaluation", "Evaluate a sample with one evaluator or several", {
      requestBody: body(EvaluateRequest),
      responses: {
        "200": answer("What each evaluator found, in the order of the request", EvaluateResponse),
        "409": answer("Another request with the same Idempotency-Key is under way", ErrorResponse),
        ...unauthenticated,
        ...notValid,
        ...tooLarge,
        ...storeUnavailable,
      },
    }),
  },
};
