import { expect } from "bun:test";
import { type EvaluateItem, EvaluateResponse, type EvaluationResult } from "@presage/contract";
import type { TestPresage } from "../presage/presage.ts";

/** Calls that must succeed, and `post` for those that may fail. `presage` is a function, as a server may restart. */
export function evaluationClient(presage: () => Pick<TestPresage, "call">) {
  const post = (body: unknown, headers?: Record<string, string>) =>
    presage().call("POST", "/v1/evaluate", body, headers);

  async function evaluate(body: Record<string, unknown>): Promise<EvaluateItem[]> {
    const response = await post(body);
    expect(response.status).toBe(200);
    return EvaluateResponse.parse(await response.json()).results;
  }

  return {
    post,
    evaluate,
    /** The result of a request with one evaluator, which must succeed. */
    async resultOf(body: Record<string, unknown>): Promise<EvaluationResult> {
      const [item] = await evaluate(body);
      expect(item).toMatchObject({ status: "success", error_message: null });
      if (!item?.evaluation_result) throw new Error("there is no result");
      return item.evaluation_result;
    },
  };
}
