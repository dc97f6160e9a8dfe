import type { Presage, ResultFilter } from "@presage/sdk";
import { infiniteQueryOptions } from "@tanstack/react-query";
import { type ResultRow, sampleCacheMs, samplePagesKey, toResultRow } from "./evaluation-results.ts";

/** Whose score the samples are sorted by. */
export interface ScoreOrder {
  evaluator: string;
  profile: string | null;
  isDescending: boolean;
}

export interface SamplePage {
  /** Of each sample in turn; what else is known of it is after them. */
  rows: ResultRow[];
  /** The last of those in turn; undefined: there are no more. */
  lastId: string | undefined;
  /** Whether more is known of the samples than `rows` has. */
  isCut: boolean;
}

const samplesOnPage = 50;
const excerptCharacters = 300;
const resultsAtOnce = 1_000;
/** How many pages without a named sample are skipped in one request for a page of samples. */
const mostEmptyPages = 20;
/** A sample without a known dataset or run may have any number of results, so the number of pages loaded is limited. */
const mostPagesOfOthers = 5;

/** Matching results in the order of one evaluator's scores, each with all others about its sample, page by page. */
export function samplePagesQuery(presage: Presage, filter: ResultFilter, order: ScoreOrder) {
  return infiniteQueryOptions({
    queryKey: [...samplePagesKey, filter, order],
    queryFn: ({ pageParam, signal }) => loadPage(presage, { filter, order, after: pageParam, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ lastId }: SamplePage) => lastId,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: sampleCacheMs,
    structuralSharing: false,
  });
}

interface PageWanted {
  filter: ResultFilter;
  order: ScoreOrder;
  after: string | undefined;
  signal: AbortSignal;
}

async function loadPage(presage: Presage, { filter, order, after, signal }: PageWanted): Promise<SamplePage> {
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
