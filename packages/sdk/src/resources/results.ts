import type {
  CorrectionRequest,
  EvaluateItem,
  EvaluateRequest,
  EvaluateResponse,
  EvaluationResult,
  EvaluationResultBatchResponse,
  EvaluationResultDeletion,
  EvaluationResultDeletionCount,
  EvaluationResultExportQuery,
  EvaluationResultFilter,
  EvaluationResultResponse,
  EvaluationResultSearchRequest,
  EvaluationResultSearchResponse,
  EvaluationSummaryRequest,
  EvaluationSummaryResponse,
  EvaluationTag,
  EvaluationTagListResponse,
  ImportedEvaluationResult,
  ReviewQueueRequest,
  ReviewQueueResponse,
} from "@presage/contract";
import type { CallOptions, ListOptions, Query, WriteOptions } from "../call.ts";
import { listAllPages } from "../paging.ts";
import { PresageError } from "../presage-error.ts";
import { callsOf, pathsUnder } from "../resource.ts";
import type { Transport } from "../transport.ts";
import { type WaitOptions, waitUntil } from "../wait-until.ts";

/**
 * Evaluates one output: `POST /v1/evaluate`. Returns one item for each evaluator, in their order; an item that is not a
 * success says why in `error_message` and has no verdict.
 */
export type Evaluate = (request: EvaluateRequest, options?: WriteOptions) => Promise<EvaluateItem[]>;

export function evaluate(transport: Transport): Evaluate {
  return async (body, options) =>
    (await callsOf(transport).create<EvaluateResponse>("/v1/evaluate", body, options)).results;
}

interface IdBounds {
  /** Only results with a greater id. */
  after_id?: string | number | null | undefined;
  /** Only results with a smaller id. */
  before_id?: string | number | null | undefined;
}

type Bounded<Filter extends object> = Omit<Filter, keyof IdBounds> & IdBounds;

/** Selects results; all given filters must match. */
export type ResultFilter = Bounded<EvaluationResultFilter>;

/** The order of results: by time, by the ids of samples, or by score. */
export type ResultOrder = Pick<EvaluationResultSearchRequest, "order">;

/** Which results to find, and which page of them. */
export type SearchRequest = Bounded<EvaluationResultSearchRequest>;

/** Which results to count, and by what. */
export type SummaryRequest = Bounded<EvaluationSummaryRequest>;

/** Which results to review, and in which order. */
export type ReviewRequest = Bounded<ReviewQueueRequest>;

/** Which results to export, and how. */
export type ExportRequest = ResultFilter & Pick<EvaluationResultExportQuery, "format" | "order">;

/** Filters in the form of a query. */
function resultFilterQuery({ tags, ...rest }: ExportRequest): Query {
  return { ...rest, ...(tags ? { tags: JSON.stringify(tags) } : {}) };
}

/** Options for reading all results page by page. */
export interface IterateOptions extends CallOptions {
  /** Results per request, 1 to 1,000. Default: 100. */
  pageSize?: number | undefined;
}

/** Verdicts: found, counted, corrected, imported, exported, deleted. */
export interface EvaluationResults extends ResultDeletions {
  /** Gets one result: `GET /v1/evaluation-results/{id}`. */
  get(id: string | number, options?: CallOptions): Promise<EvaluationResult>;
  /** Gets one page of results: `POST /v1/evaluation-results/search`. Results without a verdict are found only by status. */
  search(request?: SearchRequest, options?: CallOptions): Promise<EvaluationResult[]>;
  /** Yields all results, page by page, each page starting after the last id of the previous one. */
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
   * Takes back the latest correction of a result, if it is the caller's own: `DELETE /v1/evaluation-results/{id}/correction`. Whatever
   * counted before it counts again.
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
const pathOf = pathsUnder(path);

export function evaluationResults(transport: Transport): EvaluationResults {
  const { get, create, repeatable } = callsOf(transport);
  const one = async (response: Promise<EvaluationResultResponse>) => (await response).evaluation_result;

  async function search(body: SearchRequest = {}, options?: CallOptions): Promise<EvaluationResult[]> {
    const found = repeatable<EvaluationResultSearchResponse>("POST", `${path}/search`, options, body);
    return (await found).results;
  }

  return {
    ...resultDeletions(transport),
    get: (id, options) => one(get(pathOf(id), options)),
    search,
    iterate: (filter = {}, { pageSize, ...options } = {}) =>
      iteratePages((request) => search(request, options), filter, pageSize),
    summarise: (body = {}, options) => repeatable("POST", `${path}/summary`, options, body),
    listTags: ({ atMost, ...options } = {}) =>
      listAllPages(async (query) => {
        const { tags, next } = await get<EvaluationTagListResponse>(`${path}/tags`, options, query);
        return { data: tags, next };
      }, atMost),
    async importBatch(results, options) {
      const body = { evaluation_results: results };
      const stored = create<EvaluationResultBatchResponse>(`${path}/batch`, body, options);
      return (await stored).evaluation_results;
    },
    correct: (id, body, options) => one(create(pathOf(id, "/correction"), body, options)),
    // A repeated call would take back the previous correction, too.
    withdrawCorrection: (id, options) =>
      one(
        transport.json({ method: "DELETE", path: pathOf(id, "/correction"), isRepeatable: false }, options),
      ),
    reviewQueue: (body = {}, options) => repeatable("POST", `${path}/review`, options, body),
    exportLines(request = {}, options) {
      const query = resultFilterQuery(request);
      return transport.lines({ method: "GET", path: `${path}/export`, query }, options);
    },
  };
}

const defaultPageSize = 100;

/**
 * Pages by id: unlike with an offset, results added meanwhile neither repeat nor hide others. A page is requested once the
 * previous one has been read. If a page is too large for one response, smaller ones are requested.
 */
async function* iteratePages(
  search: (request: SearchRequest) => Promise<EvaluationResult[]>,
  filter: ResultFilter & ResultOrder,
  pageSize = defaultPageSize,
): AsyncGenerator<EvaluationResult, void, undefined> {
  const bound = (filter.order ?? "-").startsWith("-") ? "before_id" : "after_id";
  let limit = pageSize;
  let from = {};
  for (;;) {
    let page: EvaluationResult[];
    try {
      page = await search({ ...filter, limit, ...from });
    } catch (error) {
      if (limit === 1 || !(error instanceof PresageError) || error.category !== "too_large") throw error;
      limit = Math.ceil(limit / 2);
      continue;
    }
    yield* page;
    const lastId = page.at(-1)?.id;
    if (page.length < limit || !lastId) return;
    from = { [bound]: lastId };
  }
}

/** For owners. Results of a run or an experiment stay as long as it does. */
export interface ResultDeletions {
  /** Deletes one result with its texts and corrections: `DELETE /v1/evaluation-results/{id}`. */
  delete(id: string | number, options?: CallOptions): Promise<void>;
  /** Counts what `deleteMatching` would delete: `DELETE /v1/evaluation-results` with `dry_run`, which deletes nothing. */
  countDeletable(
    filter: Omit<ResultFilter, "has_run">,
    options?: CallOptions,
  ): Promise<EvaluationResultDeletionCount>;
  /**
   * Begins to delete all results that match, in the background: `DELETE /v1/evaluation-results`. `expectedCount` is the `count` of
   * `countDeletable`; if another number matches by then, nothing is deleted and it rejects with a `conflict`. Without any filter, all match.
   */
  deleteMatching(
    filter: Omit<ResultFilter, "has_run">,
    expectedCount: number,
    options?: CallOptions,
  ): Promise<EvaluationResultDeletion>;
  /** Gets how far a deletion is, until 30 days after its end: `GET /v1/evaluation-result-deletions/{id}`. */
  getDeletion(id: string, options?: CallOptions): Promise<EvaluationResultDeletion>;
  /** Waits until a deletion is finished, and returns it. `timeoutMs` is the limit of each read. */
  waitUntilDeleted(
    id: string,
    options?: WaitOptions<EvaluationResultDeletion>,
  ): Promise<EvaluationResultDeletion>;
}

function resultDeletions(transport: Transport): ResultDeletions {
  const { get, remove } = callsOf(transport);
  const deletionPath = pathsUnder("/v1/evaluation-result-deletions");
  return {
    delete: (id, options) => remove(pathOf(id), options),
    countDeletable(filter, options) {
      const query = { ...resultFilterQuery(filter), dry_run: true };
      return transport.json({ method: "DELETE", path, query, isRepeatable: true }, options);
    },
    deleteMatching(filter, expectedCount, options) {
      const query = { ...resultFilterQuery(filter), expected_count: expectedCount };
      return transport.json({ method: "DELETE", path, query }, options);
    },
    getDeletion: (id, options) => get(deletionPath(id), options),
    waitUntilDeleted: (id, options) =>
      waitUntil<EvaluationResultDeletion>(
        (read) => get(deletionPath(id), read),
        ({ status }) => status === "finished",
        options,
      ),
  };
}
