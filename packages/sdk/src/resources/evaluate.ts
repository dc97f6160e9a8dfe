import type { EvaluateItem, EvaluateRequest, EvaluateResponse } from "@presage/contract";
import type { CallOptions } from "../call.ts";
import { newIdempotencyKey } from "../idempotency-key.ts";
import type { Transport } from "../transport.ts";

export interface EvaluateOptions extends CallOptions {
  /** By which the server knows a second try: 1 to 200 visible ASCII characters. Absent: one of the call's own. */
  idempotencyKey?: string | undefined;
}

/**
 * Evaluates one output: `POST /v1/evaluate`. The answer has one item for each evaluator, in their order; one without
 * success says why in `error_message` and has no verdict.
 */
export type Evaluate = (request: EvaluateRequest, options?: EvaluateOptions) => Promise<EvaluateItem[]>;

export function evaluate({ json }: Transport): Evaluate {
  return async (body, options) => {
    const headers = { "idempotency-key": options?.idempotencyKey ?? newIdempotencyKey() };
    const call = { method: "POST", path: "/v1/evaluate", body, headers, isRepeatable: true } as const;
    return (await json<EvaluateResponse>(call, options)).results;
  };
}
