import { expect } from "bun:test";
import {
  CorrectionResponse,
  type EvaluationResult,
  EvaluationResultBatchResponse,
  EvaluationResultResponse,
  EvaluationResultSearchResponse,
  EvaluationSummaryResponse,
} from "@presage/contract";
import type { TestPresage } from "../presage/presage.ts";

export const resultsPath = "/v1/evaluation-results";

/** Calls that must succeed, and `post` for those that may fail. */
export function evaluationResultsClient(presage: () => Pick<TestPresage, "call">) {
  const post = (where: string, body: unknown, headers?: Record<string, string>) =>
    presage().call("POST", resultsPath + where, body, headers);
  const search = async (body: Record<string, unknown>): Promise<EvaluationResult[]> => {
    const response = await post("/search", body);
    expect(response.status).toBe(200);
    return EvaluationResultSearchResponse.parse(await response.json()).results;
  };

  return {
    post,
    search,
    /** The ids of every page of a search, in their order. */
    async searchAll(body: Record<string, unknown>, limit: number): Promise<number[]> {
      const ids: number[] = [];
      const next = String(body.order ?? "-").startsWith("-") ? "before_id" : "after_id";
      for (;;) {
        const last = ids.at(-1);
        const page = await search({ ...body, limit, ...(last === undefined ? {} : { [next]: last }) });
        ids.push(...page.map(({ id }) => Number(id)));
        if (page.length < limit) return ids;
      }
    },
    async find(id: string | number | null): Promise<EvaluationResult> {
      const response = await presage().call("GET", `${resultsPath}/${id}`);
      expect(response.status).toBe(200);
      return EvaluationResultResponse.parse(await response.json()).evaluation_result;
    },
    async correct(id: string | number, body: Record<string, unknown>): Promise<EvaluationResult> {
      const response = await post(`/${id}/correction`, body);
      expect(response.status).toBe(201);
      return CorrectionResponse.parse(await response.json()).evaluation_result;
    },
    async importAll(results: Record<string, unknown>[]): Promise<string[]> {
      const response = await post("/batch", { evaluation_results: results });
      expect(response.status).toBe(201);
      const { evaluation_results } = EvaluationResultBatchResponse.parse(await response.json());
      return evaluation_results.map(({ id }) => id);
    },
    async summary(body: Record<string, unknown>): Promise<EvaluationSummaryResponse> {
      const response = await post("/summary", body);
      expect(response.status).toBe(200);
      return EvaluationSummaryResponse.parse(await response.json());
    },
  };
}
