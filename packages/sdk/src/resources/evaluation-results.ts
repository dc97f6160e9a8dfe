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
  /** Results that are asked for at once, 1 to 1,000; 100 where it is absent. */
  pageSize?: number | undefined;
}

export interface EvaluationResults {
  /** One result: `GET /v1/evaluation-results/{id}`. */
  get(id: string | number, options?: CallOptions): Promise<EvaluationResult>;
  /** One page of results: `POST /v1/evaluation-results/search`. Those without a verdict are found by their status only. */
  search(request?: SearchRequest, options?: CallOptions): Promise<EvaluationResult[]>;
  /** All results, page after page, each page from the last id of the one before. */
  iterate(
    filter?: ResultFilter & ResultOrder,
    options?: IterateOptions,
  ): AsyncGenerator<EvaluationResult, void, undefined>;
  /** Figures, one group for each value of what they are split by: `POST /v1/evaluation-results/summary`. */
  summarise(request?: SummaryRequest, options?: CallOptions): Promise<EvaluationSummaryResponse>;
  /** Stores 1 to 1,000 results that were made elsewhere, all or none: `POST /v1/evaluation-results/batch`. */
  importBatch(
    results: readonly ImportedEvaluationResult[],
    options?: WriteOptions,
  ): Promise<EvaluationResultBatchResponse["evaluation_results"]>;
  /** Says what a person makes of a verdict: `POST /v1/evaluation-results/{id}/correction`. */
  correct(
    id: string | number,
    correction: CorrectionRequest,
    options?: WriteOptions,
  ): Promise<EvaluationResult>;
  /**
   * Everything that fits, line by line as it arrives: `GET /v1/evaluation-results/export`. A line of `jsonl` is the JSON
   * of one result; a record of `csv` has several where a text has. Throws if the export broke off.
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
