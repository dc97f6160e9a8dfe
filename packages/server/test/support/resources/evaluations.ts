import { expect } from "bun:test";
import {
  type EvaluateItem,
  EvaluateResponse,
  type EvaluationResult,
  EvaluationResultResponse,
  EvaluationResultSearchResponse,
} from "@presage/contract";
import type { TestPresage } from "../presage/presage.ts";

/** Calls that must succeed, and `post` for those that need not. `presage` is asked for anew each time: it may restart. */
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
    /** The result of a request with one evaluator that comes to a verdict. */
    async resultOf(body: Record<string, unknown>): Promise<EvaluationResult> {
      const [item] = await evaluate(body);
      expect(item).toMatchObject({ status: "success", error_message: null });
      if (!item?.evaluation_result) throw new Error("there is no result");
      return item.evaluation_result;
    },
    async find(id: string | null): Promise<EvaluationResult> {
      const response = await presage().call("GET", `/v1/evaluation-results/${id}`);
      expect(response.status).toBe(200);
      return EvaluationResultResponse.parse(await response.json()).evaluation_result;
    },
    async search(filter: Record<string, unknown>): Promise<EvaluationResult[]> {
      const response = await presage().call("POST", "/v1/evaluation-results/search", filter);
      expect(response.status).toBe(200);
      return EvaluationResultSearchResponse.parse(await response.json()).results;
    },
  };
}
