import type {
  CorrectionRequest,
  CorrectionResponse,
  EvaluationResult,
  EvaluationResultBatchResponse,
  EvaluationResultResponse,
  EvaluationResultSearchResponse,
  EvaluationSummaryResponse,
  EvaluationTag,
  EvaluationTagListResponse,
  ImportedEvaluationResult,
  ReviewQueueResponse,
} from "@presage/contract";
import type { CallOptions, ListOptions, WriteOptions } from "../../call.ts";
import { listAllPages } from "../../paging/list-all-pages.ts";
import type { Transport } from "../../transport.ts";
import { underOneKey } from "../../under-one-key.ts";
import { iteratePages } from "../iterate-pages.ts";
import { type ResultDeletions, resultDeletions } from "./result-deletions.ts";
import {
  type ExportRequest,
  type ResultFilter,
  type ResultOrder,
  type ReviewRequest,
  resultFilterQuery,
  type SearchRequest,
  type SummaryRequest,
} from "./result-filter.ts";

export interface IterateOptions extends CallOptions {
  /** Results per request, 1 to 1,000. Default: 100. */
  pageSize?: number | undefined;
}

export interface EvaluationResults extends ResultDeletions {
  /** Gets one result: `GET /v1/evaluation-results/{id}`. */
  get(id: string | number, options?: CallOptions): Promise<EvaluationResult>;
  /** Gets one page of results: `POST /v1/evaluation-results/search`. Results without a verdict are found only by status. */
  search(request?: SearchRequest, options?: CallOptions): Promise<EvaluationResult[]>;
  /** Yields all results, page by page, each page starting after the last id of the one before. */
  iterate(
    filter?: ResultFilter & ResultOrder,
    options?: IterateOptions,
  ): AsyncGenerator<EvaluationResult, void, undefined>;
  /** Gets figures in groups, one for each value of the dimensions in `group_by`: `POST /v1/evaluation-results/summary`. */
  summarise(request?: SummaryRequest, options?: CallOptions): Promise<EvaluationSummaryResponse>;
  /** Lists all tags that results have, with the times of their use: `GET /v1/evaluation-results/tags`. */
  listTags(options?: ListOptions): Promise<EvaluationTag[]>;
  /** Stores 1 to 1,000 results from elsewhere, all or none: `POST /v1/evaluation-results/batch`. */
  importBatch(
    results: readonly ImportedEvaluationResult[],
    options?: WriteOptions,
  ): Promise<EvaluationResultBatchResponse["evaluation_results"]>;
  /** Adds a person's correction of a verdict: `POST /v1/evaluation-results/{id}/correction`. */
  correct(
    id: string | number,
    correction: CorrectionRequest,
    options?: WriteOptions,
  ): Promise<EvaluationResult>;
  /**
   * Takes back the latest correction of a result, if it is the caller's own: `DELETE /v1/evaluation-results/{id}/correction`. What counted
   * before it counts again.
   */
  withdrawCorrection(id: string | number, options?: CallOptions): Promise<EvaluationResult>;
  /** Gets what a person should review, least certain first or at random: `POST /v1/evaluation-results/review`. */
  reviewQueue(request?: ReviewRequest, options?: CallOptions): Promise<ReviewQueueResponse>;
  /**
   * Yields all matching results, line by line as they arrive: `GET /v1/evaluation-results/export`. A line of `jsonl` is the
   * JSON of one result; a record of `csv` spans several lines if a text does. Throws if the export was cut off.
   */
  exportLines(request?: ExportRequest, options?: CallOptions): AsyncGenerator<string, void, undefined>;
}

const path = "/v1/evaluation-results";

export function evaluationResults(transport: Transport): EvaluationResults {
  const { json, lines } = transport;
  const pathOf = (id: string | number) => `${path}/${encodeURIComponent(id)}`;

  async function search(body: SearchRequest = {}, options?: CallOptions): Promise<EvaluationResult[]> {
    const call = { method: "POST", path: `${path}/search`, body, isRepeatable: true } as const;
    return (await json<EvaluationResultSearchResponse>(call, options)).results;
  }

  return {
    ...resultDeletions(transport),
    async get(id, options) {
      const call = { method: "GET", path: pathOf(id) } as const;
      return (await json<EvaluationResultResponse>(call, options)).evaluation_result;
    },
    search,
    iterate: (filter = {}, { pageSize, ...options } = {}) =>
      iteratePages((request) => search(request, options), filter, pageSize),
    summarise: (body = {}, options) =>
      json({ method: "POST", path: `${path}/summary`, body, isRepeatable: true }, options),
    listTags: ({ atMost, ...options } = {}) =>
      listAllPages(async (query) => {
        const call = { method: "GET", path: `${path}/tags`, query } as const;
        const { tags, next } = await json<EvaluationTagListResponse>(call, options);
        return { data: tags, next };
      }, atMost),
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
    async withdrawCorrection(id, options) {
      // Repeated, it would take back the correction before.
      const call = { method: "DELETE", path: `${pathOf(id)}/correction`, isRepeatable: false } as const;
      return (await json<CorrectionResponse>(call, options)).evaluation_result;
    },
    reviewQueue: (body = {}, options) =>
      json({ method: "POST", path: `${path}/review`, body, isRepeatable: true }, options),
    exportLines(request = {}, options) {
      const query = resultFilterQuery(request);
      return lines({ method: "GET", path: `${path}/export`, query }, options);
    },
  };
}
