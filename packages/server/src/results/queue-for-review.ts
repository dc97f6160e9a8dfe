import { selectRevisionsByKeys } from "../evaluators/profiles/profiles-store.ts";
import type { Requester } from "../platform/storage/reader.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { drawCandidates } from "./draw-candidates.ts";
import type { EvaluationServices } from "./evaluation-services.ts";
import {
  type Candidate,
  nearDistance,
  type Ranked,
  rankByCertainty,
  rankByChance,
  seriesOf,
} from "./rank-for-review.ts";
import { selectEqualToGold, selectNearest, selectReviewColumns } from "./review-store.ts";
import type { SearchFilter } from "./search/result-filter.ts";
import { selectResultIds } from "./search/search-store.ts";
import { withTimesAsIds } from "./search/times-as-ids.ts";

/** As many verdicts are all compared with each other: their narrow rows are read in some ten milliseconds. Of more, a part is. */
const maxRead = 5_000;
/** Evaluators and revisions of profiles whose scores are looked up, those with the most verdicts first. */
const maxSeries = 12;
/** How many revisions of profiles one statement looks up; those beyond are taken to have no threshold. */
const maxRevisions = 200;
/** How many outputs one statement compares with their gold answers. */
const comparedAtOnce = 500;
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

type ReviewServices = Pick<EvaluationServices, "store" | "registry" | "builtInProfiles">;

/** What a person should look at, of all results of a filter. */
export async function queueForReview(
  services: ReviewServices,
  requester: Requester,
  { filter: given, order, seed, limit }: QueueWanted,
  readsUpTo = maxRead,
): Promise<ReviewQueue> {
  const { accountId } = requester;
  const reader = services.store.reader(requester);
  const filter = await withTimesAsIds(reader, given);
  const page = { order: "newest-first", limit: readsUpTo + 1 } as const;
  const newest = await selectResultIds(reader, { accountId, filter, page });
  const hasMore = newest.length > readsUpTo;
  const read = (ids: readonly number[]) => readCandidates(reader, services, accountId, ids);
  const drawn = hasMore ? await drawCandidates(reader, { accountId, filter, seed, count: readsUpTo }) : [];
  // In a random order nothing may be likelier because it is new.
  const first = hasMore && order === "random" && drawn.length >= limit ? drawn : [...newest, ...drawn];
  const candidates = await read([...new Set(first)]);
  if (hasMore && order === "least-certain") {
    const known = new Set(candidates.map(({ id }) => id));
    const nearest = await findNearest(reader, { accountId, filter, limit }, candidates);
    candidates.push(...(await read([...new Set(nearest)].filter((id) => !known.has(id)))));
  }
  const items =
    order === "random"
      ? rankByChance(candidates, seed).slice(0, limit)
      : await takeDifferentFromGold(reader, rankByCertainty(candidates, seed), limit);
  const verdicts = candidates.filter(({ pass }) => pass !== null);
  return {
    considered: verdicts.length,
    has_more: hasMore,
    reviewed: verdicts.filter(({ isReviewed }) => isReviewed).length,
    items,
  };
}

async function readCandidates(
  reader: Database,
  services: ReviewServices,
  accountId: string,
  ids: readonly number[],
): Promise<Candidate[]> {
  const rows = await selectReviewColumns(reader, ids);
  const thresholds = await readThresholds(reader, services, accountId, rows);
  return rows.map((row) => ({
    id: row.id,
    evaluatorId: row.evaluator_id,
    profilePublicId: row.public_id,
    profileRevision: row.revision,
    runId: row.run_id,
    datasetId: row.dataset_id,
    sampleKey: row.sample_key,
    pass: row.pass === null ? null : row.pass === 1,
    score: row.score,
    isModelJudged: services.registry.findFamily(row.evaluator_family ?? "")?.kind === "model",
    threshold: thresholds.get(keyOf(row)),
    isReviewed: row.correction_id !== null,
  }));
}

const keyOf = (of: { public_id: string | null; revision: number | null }) => `${of.public_id} ${of.revision}`;

/** The thresholds that results were judged by, as their profiles' revisions set them. Imported results have none. */
async function readThresholds(
  reader: Database,
  { registry, builtInProfiles }: ReviewServices,
  accountId: string,
  rows: Awaited<ReturnType<typeof selectReviewColumns>>,
): Promise<Map<string, number | undefined>> {
  const used = rows.flatMap(({ public_id, revision }) =>
    public_id === null || revision === null ? [] : [{ public_id, revision }],
  );
  const keys = [...new Map(used.map((key) => [keyOf(key), key])).values()].slice(0, maxRevisions);
  const profiles = [...builtInProfiles, ...(await selectRevisionsByKeys(reader, accountId, keys))];
  return new Map(
    profiles.map((profile) => {
      const family = registry.findFamily(profile.evaluator_family);
      const config = family?.config.safeParse(JSON.parse(profile.config));
      return [keyOf(profile), config?.success ? family?.threshold?.(config.data) : undefined];
    }),
  );
}

/** The first of a queue, without texts that equal their gold answers: a person has nothing to add to those. */
async function takeDifferentFromGold(
  reader: Database,
  ranked: readonly Ranked[],
  limit: number,
): Promise<Ranked[]> {
  const taken: Ranked[] = [];
  for (let from = 0; from < ranked.length && taken.length < limit; from += comparedAtOnce) {
    const next = ranked.slice(from, from + comparedAtOnce);
    const ids = next.map(({ id }) => id);
    const equal = await selectEqualToGold(reader, ids);
    taken.push(...next.filter(({ id }) => !equal.has(id)));
  }
  return taken.slice(0, limit);
}

/** Verdicts whose scores are nearest to their threshold, among all that match. */
async function findNearest(
  reader: Database,
  { accountId, filter, limit }: { accountId: string; filter: SearchFilter; limit: number },
  candidates: readonly Candidate[],
): Promise<number[]> {
  // Only verdicts are indexed by their scores.
  if (filter.status !== "success") return [];
  const withThreshold = candidates.filter(({ threshold }) => threshold !== undefined);
  const series = [...Map.groupBy(withThreshold, seriesOf).values()]
    .toSorted((one, other) => other.length - one.length)
    .slice(0, maxSeries);
  const ids: number[] = [];
  for (const [member] of series) {
    if (member?.threshold === undefined) continue;
    const nearest = {
      series: member,
      threshold: Math.round(member.threshold * thousand),
      within: nearDistance * thousand,
      limit,
    };
    ids.push(...(await selectNearest(reader, { accountId, filter }, nearest)));
  }
  return ids;
}
