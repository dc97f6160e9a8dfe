import type { CorrectionRequest, EvaluationResult, Presage, ResultFilter, SearchRequest } from "@presage/sdk";
import {
  type InfiniteData,
  infiniteQueryOptions,
  type QueryClient,
  queryOptions,
  useMutation,
  useQueryClient,
} from "@tanstack/react-query";
import { profilesQueryKey } from "./evaluator-profiles.ts";
import { usePresage } from "./use-presage.ts";

type Order = NonNullable<SearchRequest["order"]>;

const pagesKey = ["results", "pages"];
const summaryKey = ["results", "summary"];
const resultKey = (id: string | null) => ["results", "one", id];

const pageSize = 100;
const excerptCharacters = 300;
/** A list that the reader left is asked for anew after this, from its beginning. */
const listKeptMs = 15_000;
const resultKeptMs = 30_000;
const summaryFreshMs = 60_000;

/** Rows of the results that fit, page after page. What is there is never asked for again: the rows under the reader stay. */
export function resultPagesQuery(presage: Presage, filter: ResultFilter, order: Order) {
  const bound = order === "created_at" ? "after_id" : "before_id";
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
    gcTime: listKeptMs,
    // Comparing thousands of rows with themselves on each new page helps nobody.
    structuralSharing: false,
  });
}

/** One result with its whole texts. */
export function resultQuery(presage: Presage, id: string) {
  return queryOptions({
    queryKey: resultKey(id),
    queryFn: ({ signal }) => presage.results.get(id, { signal }),
    // It may be of megabytes: whoever goes through hundreds keeps only the last ones.
    gcTime: resultKeptMs,
    structuralSharing: false,
  });
}

/** The figures of all results that fit. Without a verdict they count too. */
export function resultSummaryQuery(presage: Presage, filter: ResultFilter) {
  return queryOptions({
    queryKey: [...summaryKey, filter],
    async queryFn({ signal }) {
      const { source, groups } = await presage.results.summarise(filter, { signal });
      return { source, figures: groups[0] };
    },
    staleTime: summaryFreshMs,
  });
}

/** Loads the list and its totals again, from the start. */
export function refreshResults(queryClient: QueryClient): void {
  void queryClient.resetQueries({ queryKey: pagesKey });
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
      void queryClient.invalidateQueries({ queryKey: summaryKey });
      void queryClient.invalidateQueries({ queryKey: profilesQueryKey });
    },
  });
}

/** Updates every cached copy of a result, without loading a list again. */
function replaceResult(queryClient: QueryClient, result: EvaluationResult): void {
  queryClient.setQueryData(resultKey(result.id), result);
  queryClient.setQueriesData<InfiniteData<ResultRow[]>>({ queryKey: pagesKey }, (list) => {
    const replace = (row: ResultRow) => (row.id === result.id ? toResultRow(result) : row);
    return list && { ...list, pages: list.pages.map((page) => page.map(replace)) };
  });
}

/** What a list shows of a result: little enough that tens of thousands of them fit into a page. */
export interface ResultRow
  extends Pick<
    EvaluationResult,
    | "app"
    | "created_at"
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
  /** What a person said, which is what counts. */
  corrected: { pass: boolean; score: number | null } | null;
  /** The beginning of the output. */
  excerpt: string | null;
}

export function toResultRow(result: EvaluationResult): ResultRow {
  const { correction } = result;
  return {
    id: result.id ?? "",
    app: result.app,
    created_at: result.created_at,
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
  };
}
