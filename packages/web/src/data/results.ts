import type { CorrectionRequest, EvaluationResult, Presage, ResultFilter, SearchRequest } from "@presage/sdk";
import {
  type InfiniteData,
  infiniteQueryOptions,
  type QueryClient,
  queryOptions,
  useMutation,
  useQueryClient,
} from "@tanstack/react-query";
import { usePresage } from "./client.ts";
import { profilesQueryKey } from "./evaluators.ts";
import { addUp, byRate, sortRates } from "./summaries.ts";

type Order = NonNullable<SearchRequest["order"]>;

const pagesKey = ["results", "pages"];
/** For pages that are sorted by score. */
const samplePagesKey = ["results", "sample pages"];
export const summaryKey = ["results", "summary"];
const resultKey = (id: string | null) => ["results", "one", id];

const pageSize = 100;
const excerptCharacters = 300;
/** A list that the user left is reloaded from the start after this time. */
const listCacheMs = 15_000;
const resultCacheMs = 30_000;
const summaryFreshMs = 60_000;

/** Matching results, page by page. Loaded pages are never reloaded, so that rows do not move while the user reads. */
export function resultPagesQuery(presage: Presage, filter: ResultFilter, order: Order) {
  // If the results are sorted by sample, an id bound is a place in that order.
  const bound = order === "-created_at" ? "before_id" : "after_id";
  return infiniteQueryOptions({
    queryKey: [...pagesKey, order, filter],
    async queryFn({ pageParam, signal }): Promise<ResultRow[]> {
      const page = { order, limit: pageSize, text_limit: excerptCharacters };
      const from = pageParam === undefined ? {} : { [bound]: pageParam };
      const results = await presage.results.search({ ...filter, ...page, ...from }, { signal });
      return results.map(toResultRow);
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => (page.length < pageSize ? undefined : page.at(-1)?.id),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: listCacheMs,
    // Comparing thousands of rows on each new page would be wasted work.
    structuralSharing: false,
  });
}

/** One result with its full texts. */
export function resultQuery(presage: Presage, id: string) {
  return queryOptions({
    queryKey: resultKey(id),
    queryFn: ({ signal }) => presage.results.get(id, { signal }),
    // Short, since a result can take megabytes: opening hundreds of results should keep only the last ones in memory.
    gcTime: resultCacheMs,
    structuralSharing: false,
  });
}

/** The number of matching results, including those without a verdict. */
export function resultCountQuery(presage: Presage, filter: ResultFilter) {
  return queryOptions({
    queryKey: [...summaryKey, "count", filter],
    async queryFn({ signal }) {
      const { groups } = await presage.results.summarise({ ...filter, intervals: false }, { signal });
      const leftOut = groups.reduce((sum, { not_applicable }) => sum + not_applicable, 0);
      return { leftOut, ...addUp(groups) };
    },
    staleTime: summaryFreshMs,
  });
}

/** The figures of the matching results, for each evaluator, profile and run, those with the most verdicts first. */
export function resultRatesQuery(presage: Presage, filter: ResultFilter) {
  return queryOptions({
    queryKey: [...summaryKey, "rates", filter],
    async queryFn({ signal }) {
      const { groups } = await presage.results.summarise(
        { ...filter, group_by: [...byRate, "run"] },
        { signal },
      );
      return sortRates(groups);
    },
    staleTime: summaryFreshMs,
  });
}

/** The number of matching results for each evaluator and profile, and no more, since a list of a million results waits for it. */
export function evaluatorCountsQuery(presage: Presage, filter: ResultFilter) {
  return queryOptions({
    queryKey: [...summaryKey, "counts", filter],
    async queryFn({ signal }) {
      const wanted = { ...filter, group_by: [...byRate], intervals: false };
      return (await presage.results.summarise(wanted, { signal })).groups;
    },
    staleTime: summaryFreshMs,
  });
}

/** Reloads the list and its totals from the start. */
export function refreshResults(queryClient: QueryClient): void {
  void queryClient.resetQueries({ queryKey: pagesKey });
  void queryClient.resetQueries({ queryKey: samplePagesKey });
  void queryClient.invalidateQueries({ queryKey: summaryKey });
}

export function useCorrectResult(id: string, { onSuccess }: { onSuccess(): void }) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (correction: CorrectionRequest) => presage.results.correct(id, correction),
    onSuccess(corrected) {
      replaceResult(queryClient, corrected);
      onSuccess();
      for (const queryKey of [summaryKey, ["summaries"], profilesQueryKey])
        void queryClient.invalidateQueries({ queryKey });
    },
  });
}

/** Updates every cached copy of a result, without reloading lists. */
export function replaceResult(queryClient: QueryClient, result: EvaluationResult): void {
  queryClient.setQueryData(resultKey(result.id), result);
  const replace = (row: ResultRow) => (row.id === result.id ? toResultRow(result) : row);
  queryClient.setQueriesData<InfiniteData<ResultRow[]>>({ queryKey: pagesKey }, (list) => {
    return list && { ...list, pages: list.pages.map((page) => page.map(replace)) };
  });
  queryClient.setQueriesData<InfiniteData<{ rows: ResultRow[] }>>({ queryKey: samplePagesKey }, (list) => {
    return list && { ...list, pages: list.pages.map((page) => ({ ...page, rows: page.rows.map(replace) })) };
  });
}

/** The part of a result that a list shows, small enough to hold tens of thousands in memory. */
export interface ResultRow
  extends Pick<
    EvaluationResult,
    | "app"
    | "created_at"
    | "dataset_id"
    | "dataset_sample_id"
    | "error_message"
    | "evaluation_run_id"
    | "evaluator_id"
    | "evaluator_profile_revision"
    | "pass"
    | "profile_name"
    | "score_raw"
    | "status"
  > {
  id: string;
  /** A person's verdict, which overrides the evaluator's. */
  corrected: { pass: boolean; score: number | null } | null;
  /** The beginnings of the output, and of the gold answer. */
  excerpt: string | null;
  gold: string | null;
}

export function toResultRow(result: EvaluationResult): ResultRow {
  const { correction } = result;
  return {
    id: result.id ?? "",
    app: result.app,
    created_at: result.created_at,
    dataset_id: result.dataset_id,
    dataset_sample_id: result.dataset_sample_id,
    error_message: result.error_message,
    evaluation_run_id: result.evaluation_run_id,
    evaluator_id: result.evaluator_id,
    evaluator_profile_revision: result.evaluator_profile_revision,
    pass: result.pass,
    profile_name: result.profile_name,
    score_raw: result.score_raw,
    status: result.status,
    corrected: correction && { pass: correction.pass, score: correction.score_raw },
    excerpt: result.evaluated_model_output?.slice(0, excerptCharacters) ?? null,
    gold: result.evaluated_model_gold_answer?.slice(0, excerptCharacters) ?? null,
  };
}

/** The evaluator and profile whose score the samples are sorted by. */
export interface ScoreOrder {
  evaluator: string;
  profile: string | null;
  isDescending: boolean;
}

export interface SamplePage {
  /** The sorted evaluator's results, in order, followed by all other results about the same samples. */
  rows: ResultRow[];
  /** The last id in the sorted order; undefined if there are no more pages. */
  lastId: string | undefined;
  /** Whether there are more results about the samples than `rows` contains. */
  isCut: boolean;
}

const samplesOnPage = 50;
const resultsAtOnce = 1_000;
/** How many pages without a named sample are skipped to fill one page of samples. */
const mostEmptyPages = 20;
/** A sample without a known dataset or run may have any number of results, so the number of pages loaded is limited. */
const mostPagesOfOthers = 5;

/** Matching results sorted by one evaluator's scores, each with all other results about its sample, page by page. */
export function samplePagesQuery(presage: Presage, filter: ResultFilter, order: ScoreOrder) {
  return infiniteQueryOptions({
    queryKey: [...samplePagesKey, filter, order],
    queryFn: ({ pageParam, signal }) => loadSamples(presage, { filter, order, after: pageParam, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ lastId }: SamplePage) => lastId,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: listCacheMs,
    structuralSharing: false,
  });
}

interface PageWanted {
  filter: ResultFilter;
  order: ScoreOrder;
  after: string | undefined;
  signal: AbortSignal;
}

async function loadSamples(
  presage: Presage,
  { filter, order, after, signal }: PageWanted,
): Promise<SamplePage> {
  let lastId = after;
  for (let page = 0; page < mostEmptyPages; page += 1) {
    const bound = order.isDescending ? "before_id" : "after_id";
    const found = await presage.results.search(
      {
        ...filter,
        evaluator_id: order.evaluator,
        ...(order.profile !== null && { profile_name: order.profile }),
        order: order.isDescending ? "-score_raw" : "score_raw",
        limit: samplesOnPage,
        text_limit: excerptCharacters,
        ...(lastId !== undefined && { [bound]: lastId }),
      },
      { signal },
    );
    lastId = found.length < samplesOnPage ? undefined : (found.at(-1)?.id ?? undefined);
    const inTurn = found.map(toResultRow).filter(({ dataset_sample_id }) => dataset_sample_id !== null);
    if (inTurn.length > 0 || lastId === undefined) {
      const others = await loadOthers(presage, filter, inTurn, signal);
      return { rows: [...inTurn, ...others.rows], lastId, isCut: others.isCut };
    }
  }
  return { rows: [], lastId, isCut: false };
}

type Others = Pick<SamplePage, "rows" | "isCut">;

/** The results about the same samples of the same datasets and runs. */
async function loadOthers(
  presage: Presage,
  filter: ResultFilter,
  rows: readonly ResultRow[],
  signal: AbortSignal,
): Promise<Others> {
  const groups = Map.groupBy(rows, ({ dataset_id, evaluation_run_id }) =>
    JSON.stringify([dataset_id, evaluation_run_id]),
  );
  const loaded = await Promise.all(
    groups.values().map(async (group) => {
      const [{ dataset_id, evaluation_run_id } = { dataset_id: null, evaluation_run_id: null }] = group;
      const samples = group.map(({ dataset_sample_id }) => dataset_sample_id).filter((id) => id !== null);
      const { rows, isCut } = await searchOthers(
        presage,
        {
          ...filter,
          ...(dataset_id !== null && { dataset_id }),
          ...(evaluation_run_id !== null && { evaluation_run_id }),
        },
        samples,
        signal,
      );
      const isOfGroup = (other: ResultRow) =>
        other.dataset_id === dataset_id && other.evaluation_run_id === evaluation_run_id;
      return { rows: rows.filter(isOfGroup), isCut };
    }),
  );
  return { rows: loaded.flatMap(({ rows }) => rows), isCut: loaded.some(({ isCut }) => isCut) };
}

async function searchOthers(
  presage: Presage,
  filter: ResultFilter,
  samples: readonly (string | number)[],
  signal: AbortSignal,
): Promise<Others> {
  const rows: ResultRow[] = [];
  for (let page = 0; page < mostPagesOfOthers; page += 1) {
    const lastId = rows.at(-1)?.id;
    const found = await presage.results.search(
      {
        ...filter,
        dataset_sample_ids: [...samples],
        order: "dataset_sample_id",
        limit: resultsAtOnce,
        text_limit: excerptCharacters,
        ...(lastId !== undefined && { after_id: lastId }),
      },
      { signal },
    );
    rows.push(...found.map(toResultRow));
    if (found.length < resultsAtOnce) return { rows, isCut: false };
  }
  return { rows, isCut: true };
}
