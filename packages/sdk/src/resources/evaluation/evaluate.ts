import type { EvaluateItem, EvaluateRequest, EvaluateResponse } from "@presage/contract";
import type { WriteOptions } from "../../call.ts";
import type { Transport } from "../../transport.ts";
import { underOneKey } from "../../under-one-key.ts";

/**
 * Evaluates one output: `POST /v1/evaluate`. Returns one item for each evaluator, in their order; an item that is not a
 * success says why in `error_message` and has no verdict.
 */
export type Evaluate = (request: EvaluateRequest, options?: WriteOptions) => Promise<EvaluateItem[]>;

export function evaluate({ json }: Transport): Evaluate {
  return async (body, options) => {
    const call = { method: "POST", path: "/v1/evaluate", body, ...underOneKey(options) } as const;
    return (await json<EvaluateResponse>(call, options)).results;
  };
}
