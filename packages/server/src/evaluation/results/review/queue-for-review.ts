import type { Requester } from "../../../storage/reader.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import type { EvaluationServices } from "../../evaluation-services.ts";
import type { SearchFilter } from "../search/result-filter.ts";
import { selectResultIds } from "../search/search-store.ts";
import { withTimesAsIds } from "../search/times-as-ids.ts";
import { drawCandidates } from "./draw-candidates.ts";
import {
  type Candidate,
  findBoundaries,
  nearDistance,
  type Ranked,
  rankByCertainty,
  rankByChance,
  seriesOf,
} from "./rank-for-review.ts";
import { selectNearest, selectReviewColumns } from "./review-store.ts";

/** As many verdicts are all compared with each other: their narrow rows are read in some ten milliseconds. Of more, a part is. */
const maxRead = 5_000;
/** Evaluators and revisions of profiles whose scores are looked up, those with the most verdicts first. */
const maxSeries = 12;
const thousand = 1_000;

export interface QueueWanted {
  filter: SearchFilter;
  order: "least-certain" | "random";
  seed: number;
  limit: number;
}

export interface ReviewQueue {
  considered: number;
  /** Whether more match than were considered. */
  has_more: boolean;
  reviewed: number;
  items: Ranked[];
}

/** What a person should look at, of all results of a filter. */
export async function queueForReview(
  { store, registry }: Pick<EvaluationServices, "store" | "registry">,
  requester: Requester,
  { filter: given, order, seed, limit }: QueueWanted,
  readsUpTo = maxRead,
): Promise<ReviewQueue> {
  const { accountId } = requester;
  const reader = store.reader(requester);
  const filter = await withTimesAsIds(reader, given);
  const page = { order: "newest-first", limit: readsUpTo + 1 } as const;
  const newest = await selectResultIds(reader, { accountId, filter, page });
  const hasMore = newest.length > readsUpTo;
  const read = (ids: readonly number[]) => readCandidates(reader, registry, ids);
  const drawn = hasMore ? await drawCandidates(reader, { accountId, filter, seed, count: readsUpTo }) : [];
  // In a random order nothing may be likelier because it is new.
  const first = hasMore && order === "random" && drawn.length >= limit ? drawn : [...newest, ...drawn];
  const candidates = await read([...new Set(first)]);
  if (hasMore && order === "least-certain") {
    const known = new Set(candidates.map(({ id }) => id));
    const nearest = await findNearest(reader, { accountId, filter, limit }, candidates);
    candidates.push(...(await read([...new Set(nearest)].filter((id) => !known.has(id)))));
  }
  const ranked = order === "random" ? rankByChance(candidates, seed) : rankByCertainty(candidates, seed);
  const verdicts = candidates.filter(({ pass }) => pass !== null);
  return {
    considered: verdicts.length,
    has_more: hasMore,
    reviewed: verdicts.filter(({ isReviewed }) => isReviewed).length,
    items: ranked.slice(0, limit),
  };
}

async function readCandidates(
  reader: Database,
  registry: EvaluationServices["registry"],
  ids: readonly number[],
): Promise<Candidate[]> {
  const rows = await selectReviewColumns(reader, ids);
  return rows.map((row) => ({
    id: row.id,
    evaluatorId: row.evaluator_id,
    profilePublicId: row.profile_public_id,
    profileRevision: row.profile_revision,
    runId: row.run_id,
    datasetId: row.dataset_id,
    sampleKey: row.sample_key,
    pass: row.pass === null ? null : row.pass === 1,
    score: row.score,
    isModelJudged: registry.findFamily(row.evaluator_family ?? "")?.kind === "model",
    isReviewed: row.correction_id !== null,
  }));
}

/** Verdicts whose scores are nearest to where passing begins, among all that match. What is read shows where it begins. */
async function findNearest(
  reader: Database,
  { accountId, filter, limit }: { accountId: string; filter: SearchFilter; limit: number },
  candidates: readonly Candidate[],
): Promise<number[]> {
  // Only verdicts are indexed by their scores.
  if (filter.status !== "success") return [];
  const boundaries = findBoundaries(candidates);
  const series = [...Map.groupBy(candidates, seriesOf)]
    .toSorted(([, one], [, other]) => other.length - one.length)
    .slice(0, maxSeries);
  const ids: number[] = [];
  for (const [name, [member]] of series) {
    const boundary = boundaries.get(name);
    if (boundary === undefined || member === undefined) continue;
    const nearest = {
      series: member,
      boundary: Math.round(boundary * thousand),
      within: nearDistance * thousand,
      limit,
    };
    ids.push(...(await selectNearest(reader, { accountId, filter }, nearest)));
  }
  return ids;
}
