import type {
  CorrectionRequest,
  CorrectionResponse,
  EvaluationResult,
  EvaluationResultBatchResponse,
  EvaluationResultResponse,
  EvaluationResultSearchResponse,
  EvaluationSummaryResponse,
  ImportedEvaluationResult,
} from "@presage/contract";
import type { CallOptions, WriteOptions } from "../call.ts";
import { underOneKey } from "../idempotency-key.ts";
import type { Transport } from "../transport.ts";
import { iteratePages } from "./iterate-pages.ts";
import type {
  ExportRequest,
  ResultFilter,
  ResultOrder,
  SearchRequest,
  SummaryRequest,
} from "./result-filter.ts";

export interface IterateOptions extends CallOptions {
  /** Page size, 1 to 1,000; 100 by default. */
  pageSize?: number | undefined;
}

export interface EvaluationResults {
  /** One result: `GET /v1/evaluation-results/{id}`. */
  get(id: string | number, options?: CallOptions): Promise<EvaluationResult>;
  /** One page of results: `POST /v1/evaluation-results/search`. Results without a verdict are only found by status. */
  search(request?: SearchRequest, options?: CallOptions): Promise<EvaluationResult[]>;
  /** All results, page by page, each page after the last id of the previous one. */
  iterate(
    filter?: ResultFilter & ResultOrder,
    options?: IterateOptions,
  ): AsyncGenerator<EvaluationResult, void, undefined>;
  /** Figures for each group: `POST /v1/evaluation-results/summary`. */
  summarise(request?: SummaryRequest, options?: CallOptions): Promise<EvaluationSummaryResponse>;
  /** Imports 1 to 1,000 results from other tools, all or none: `POST /v1/evaluation-results/batch`. */
  importBatch(
    results: readonly ImportedEvaluationResult[],
    options?: WriteOptions,
  ): Promise<EvaluationResultBatchResponse["evaluation_results"]>;
  /** Corrects a verdict: `POST /v1/evaluation-results/{id}/correction`. */
  correct(
    id: string | number,
    correction: CorrectionRequest,
    options?: WriteOptions,
  ): Promise<EvaluationResult>;
  /**
   * All matching results, line by line as they arrive: `GET /v1/evaluation-results/export`. A line of `jsonl` is the JSON
   * of one result; a record of `csv` has several lines if a text has. Throws if the export is interrupted.
   */
  exportLines(request?: ExportRequest, options?: CallOptions): AsyncGenerator<string, void, undefined>;
}

const path = "/v1/evaluation-results";

export function evaluationResults({ json, lines }: Transport): EvaluationResults {
  const pathOf = (id: string | number) => `${path}/${encodeURIComponent(id)}`;

  async function search(body: SearchRequest = {}, options?: CallOptions): Promise<EvaluationResult[]> {
    const call = { method: "POST", path: `${path}/search`, body, isRepeatable: true } as const;
    return (await json<EvaluationResultSearchResponse>(call, options)).results;
  }

  return {
    async get(id, options) {
      const call = { method: "GET", path: pathOf(id), isRepeatable: true } as const;
      return (await json<EvaluationResultResponse>(call, options)).evaluation_result;
    },
    search,
    iterate: (filter = {}, { pageSize, ...options } = {}) =>
      iteratePages((request) => search(request, options), filter, pageSize),
    summarise: (body = {}, options) =>
      json({ method: "POST", path: `${path}/summary`, body, isRepeatable: true }, options),
    async importBatch(results, options) {
      const body = { evaluation_results: results };
      const call = { method: "POST", path: `${path}/batch`, body, ...underOneKey(options) } as const;
      return (await json<EvaluationResultBatchResponse>(call, options)).evaluation_results;
    },
    async correct(id, body, options) {
      const call = {
        method: "POST",
        path: `${pathOf(id)}/correction`,
        body,
        ...underOneKey(options),
      } as const;
      return (await json<CorrectionResponse>(call, options)).evaluation_result;
    },
    exportLines({ tags, ...rest } = {}, options) {
      const query = { ...rest, ...(tags ? { tags: JSON.stringify(tags) } : {}) };
      return lines({ method: "GET", path: `${path}/export`, query, isRepeatable: true }, options);
    },
  };
}
