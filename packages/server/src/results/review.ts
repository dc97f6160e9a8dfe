import { type ReviewQueueItem, ReviewQueueRequest, ReviewQueueResponse } from "@presage/contract";
import { type ProfileRevision, selectRevisionsByKeys } from "../evaluators/profiles/profiles-store.ts";
import type { Registry } from "../evaluators/registry.ts";
import { response } from "../http/describe.ts";
import { reply, route } from "../http/route.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import examples from "./examples.json" with { type: "json" };
import {
  drawCandidates,
  type ReviewRow,
  selectEqualToGold,
  selectNearest,
  selectOtherVerdicts,
  selectReviewRows,
} from "./review-store.ts";
import type { SearchFilter } from "./search/filter.ts";
import { readSearchFilter, withTimesAsIds } from "./search/search-results.ts";
import { selectResultIds } from "./search/search-store.ts";

interface ReviewServices {
  store: Store;
  registry: Registry;
  builtInProfiles: readonly ProfileRevision[];
}

const defaultLimit = 50;

const reviewQueue = route("POST", "/v1/evaluation-results/review", {
  needs: "read",
  id: "listReviewQueue",
  summary: "List results for a person to review",
  description:
    "Of the verdicts that match, lists those that no one has corrected or labelled, least certain first or in a random order. Send a person's verdict on each as its label.",
  body: ReviewQueueRequest,
  bodyExample: {
    evaluator_id: "edit-distance",
    order: "least-certain",
    limit: 20,
  },
  hasOldNames: true,
  responses: {
    "200": response("What to look at, in this order", ReviewQueueResponse, examples.reviewQueue),
  },
  async handle(services: ReviewServices, { requester, body }) {
    const wanted = {
      filter: await readSearchFilter(services, requester, body),
      order: body.order ?? "least-certain",
      seed: body.seed ?? 1,
      limit: body.limit ?? defaultLimit,
    };
    const { items, ...counts } = await queueForReview(services, requester, wanted);
    return reply(200, { ...counts, data: items.map((item) => ({ ...item, id: String(item.id) })) });
  },
});

export const reviewRoutes = [reviewQueue];

/** Up to this many verdicts are all compared with each other: reading their narrow rows takes some ten milliseconds. More are sampled. */
const maxRead = 5_000;
/** Evaluators and revisions of profiles whose scores are looked up, those with the most verdicts first. */
const maxSeries = 12;
/** How many revisions of profiles one statement looks up; any others are taken to have no threshold. */
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

/** The results of a filter that a person should look at. */
export async function queueForReview(
  services: ReviewServices,
  requester: Requester,
  { filter: given, order, seed, limit }: QueueWanted,
  readsUpTo = maxRead,
): Promise<Omit<ReviewQueueResponse, "data"> & { items: Ranked[] }> {
  const { accountId } = requester;
  const reader = services.store.reader(requester);
  const filter = await withTimesAsIds(reader, given);
  const page = { order: "newest-first", limit: readsUpTo + 1 } as const;
  const newest = await selectResultIds(reader, { accountId, filter, page });
  const hasMore = newest.length > readsUpTo;
  // Without such a filter, the other evaluators' verdicts are among those that are read.
  const namesEvaluator = [
    filter.evaluatorId,
    filter.evaluatorFamily,
    filter.profilePublicId,
    filter.profileName,
  ].some((name) => name !== undefined);
  const read = (ids: readonly number[]) => readCandidates(reader, services, accountId, ids, namesEvaluator);
  const drawn = hasMore ? await drawCandidates(reader, { accountId, filter, seed, count: readsUpTo }) : [];
  // In a random order, new results must not be more likely than others.
  const first = hasMore && order === "random" && drawn.length >= limit ? drawn : [...newest, ...drawn];
  const candidates = await read([...new Set(first)]);
  if (hasMore && order === "least-certain") {
    const known = new Set(candidates.map(({ id }) => id));
    const nearest = await findNearest(reader, { accountId, filter, limit }, candidates);
    candidates.push(...(await read([...new Set(nearest)].filter((id) => !known.has(id)))));
  }
  // A baseline's answers are known beforehand, so verdicts on them teach little.
  const uncertain = candidates.filter(
    ({ baseline_id }) => baseline_id === null || filter.runId !== undefined,
  );
  const items =
    order === "random"
      ? rankByChance(candidates, seed).slice(0, limit)
      : await takeDifferentFromGold(reader, rankByCertainty(uncertain, seed), limit);
  const verdicts = candidates.filter(({ pass, isOther }) => pass !== null && !isOther);
  return {
    considered: verdicts.length,
    has_more: hasMore,
    reviewed: verdicts.filter(isReviewed).length,
    items,
  };
}

async function readCandidates(
  reader: Database,
  services: ReviewServices,
  accountId: string,
  ids: readonly number[],
  namesEvaluator: boolean,
): Promise<Candidate[]> {
  const rows = await selectReviewRows(reader, ids);
  const others = namesEvaluator ? await selectOtherVerdicts(reader, accountId, rows) : [];
  const wanted = new Set(ids);
  const thresholds = await readThresholds(reader, services, accountId, rows);
  return [...rows, ...others].map((row) => ({
    ...row,
    isOther: !wanted.has(row.id),
    isModelJudged: services.registry.findFamily(row.evaluator_family ?? "")?.kind === "model",
    threshold: thresholds.get(keyOf(row)),
  }));
}

const keyOf = (of: { public_id: string | null; revision: number | null }) => `${of.public_id} ${of.revision}`;

/** The thresholds that results were judged by, as their profiles' revisions set them. Imported results have none. */
async function readThresholds(
  reader: Database,
  { registry, builtInProfiles }: ReviewServices,
  accountId: string,
  rows: readonly ReviewRow[],
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

/** The first items of a queue, without outputs that equal their gold answers: a person has nothing to add to those. */
async function takeDifferentFromGold(reader: Database, ranked: readonly Ranked[], limit: number) {
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

/** A verdict that may be reviewed. */
export interface Candidate extends ReviewRow {
  isModelJudged: boolean;
  /** Whether it was read only to be compared with those that match. */
  isOther: boolean;
  /** The lowest score that passes; undefined if no threshold decides. */
  threshold: number | undefined;
}

/** Whether a person has corrected or labelled the verdict. */
function isReviewed({ correction_id, label_id }: Candidate): boolean {
  return correction_id !== null || label_id !== null;
}

export type Ranked = Omit<ReviewQueueItem, "id"> & { id: number };

/** Scores this near to their threshold are reported as near. */
const nearDistance = 0.1;

/**
 * The unreviewed verdicts, least certain first: evaluators or repeats that disagree, one of which stands for all; then scores near their
 * threshold, the nearest first; then models' verdicts before rules'. Ties are ordered by the seed.
 */
export function rankByCertainty(candidates: readonly Candidate[], seed: number): Ranked[] {
  const repeats = groupRepeats(candidates);
  const evaluators = groupEvaluators(candidates);
  const ranked = candidates.flatMap((candidate) => {
    if (isReviewed(candidate) || candidate.pass === null || candidate.isOther) return [];
    const ofRepeats = repeats.get(repeatsOf(candidate) ?? "");
    const ofEvaluators = evaluators.get(sampleOf(candidate) ?? "");
    if ([ofRepeats, ofEvaluators].some((group) => group !== undefined && group.first !== candidate.id))
      return [];
    const { id, isModelJudged } = candidate;
    const counts = { evaluators: countsOf(ofEvaluators), repeats: countsOf(ofRepeats) };
    return [{ id, isModelJudged, distance: distanceOf(candidate), ...counts }];
  });
  return ranked
    .toSorted(
      (a, b) =>
        Number(isDisputed(b)) - Number(isDisputed(a)) ||
        compareDistances(a.distance, b.distance) ||
        Number(b.isModelJudged) - Number(a.isModelJudged) ||
        draw(a.id, seed) - draw(b.id, seed) ||
        b.id - a.id,
    )
    .map(({ isModelJudged, ...item }) => ({ ...item, reason: reasonOf({ ...item, isModelJudged }) }));
}

/** The unreviewed verdicts, in an order that only the seed decides. */
export function rankByChance(candidates: readonly Candidate[], seed: number): Ranked[] {
  return candidates
    .filter((candidate) => !isReviewed(candidate) && candidate.pass !== null && !candidate.isOther)
    .toSorted((a, b) => draw(a.id, seed) - draw(b.id, seed) || b.id - a.id)
    .map(({ id }) => ({ id, reason: "drawn", distance: null, evaluators: null, repeats: null }));
}

function isDisputed({ evaluators, repeats }: Pick<Ranked, "evaluators" | "repeats">): boolean {
  return evaluators !== null || repeats !== null;
}

function reasonOf({
  evaluators,
  repeats,
  distance,
  isModelJudged,
}: Omit<Ranked, "id" | "reason"> & { isModelJudged: boolean }): Ranked["reason"] {
  if (evaluators !== null) return "evaluators-disagree";
  if (repeats !== null) return "repeats-disagree";
  if (distance !== null) return "near-threshold";
  return isModelJudged ? "model-judged" : "drawn";
}

/** Sorts unknown distances last. */
function compareDistances(a: number | null, b: number | null): number {
  if (a === b) return 0;
  return (a ?? Number.POSITIVE_INFINITY) - (b ?? Number.POSITIVE_INFINITY);
}

/** Null if the score is not near its threshold. A full score is not uncertain, however high its threshold is. */
function distanceOf({ score, threshold }: Candidate): number | null {
  if (score === null || threshold === undefined || score >= 1) return null;
  const distance = Math.abs(score - threshold);
  return distance <= nearDistance ? distance : null;
}

interface Disagreement {
  /** The verdict that stands for all. */
  first: number;
  passed: number;
  not_passed: number;
}

const countsOf = (group: Disagreement | undefined) =>
  group === undefined ? null : { passed: group.passed, not_passed: group.not_passed };

/** Samples of runs without a reviewed verdict, which one evaluator always passes and another never does. */
function groupEvaluators(candidates: readonly Candidate[]): Map<string, Disagreement> {
  const found = new Map<string, Disagreement>();
  for (const [key, members] of Map.groupBy(candidates, (candidate) => sampleOf(candidate) ?? "")) {
    if (key === "" || members.some(isReviewed)) continue;
    const verdicts = [...Map.groupBy(members, seriesOf).values()].map((some) => ({
      passes: some.every(({ pass }) => pass === 1),
      fails: some.every(({ pass }) => pass === 0),
    }));
    const passed = verdicts.filter(({ passes }) => passes).length;
    const not_passed = verdicts.filter(({ fails }) => fails).length;
    if (passed === 0 || not_passed === 0) continue;
    // A model's verdict teaches more than a rule's, which does what it says.
    const shown = members.filter(({ isOther }) => !isOther);
    const judged = shown.filter(({ isModelJudged }) => isModelJudged);
    const ids = (judged.length > 0 ? judged : shown).map(({ id }) => id);
    if (ids.length > 0) found.set(key, { first: Math.max(...ids), passed, not_passed });
  }
  return found;
}

/** Repeats that disagree, none of which was reviewed. The newest verdict of the rarer kind stands for all. */
function groupRepeats(candidates: readonly Candidate[]): Map<string, Disagreement> {
  const groups = Map.groupBy(candidates, (candidate) => repeatsOf(candidate) ?? "");
  const found = new Map<string, Disagreement>();
  for (const [key, members] of groups) {
    const passed = members.filter(({ pass }) => pass === 1);
    const notPassed = members.filter(({ pass }) => pass === 0);
    if (key === "" || passed.length === 0 || notPassed.length === 0) continue;
    if (members.some(isReviewed)) continue;
    const rarer = passed.length < notPassed.length ? passed : notPassed;
    const first = Math.max(...rarer.map(({ id }) => id));
    found.set(key, { first, passed: passed.length, not_passed: notPassed.length });
  }
  return found;
}

function seriesOf({ evaluator_id, public_id, revision }: Candidate): string {
  return JSON.stringify([evaluator_id, public_id, revision]);
}

function sampleOf({ run_id, dataset_id, sample_key }: Candidate): string | undefined {
  return run_id === null || sample_key === null
    ? undefined
    : JSON.stringify([run_id, dataset_id, sample_key]);
}

function repeatsOf(candidate: Candidate): string | undefined {
  const sample = sampleOf(candidate);
  return sample === undefined ? undefined : sample + seriesOf(candidate);
}

/** A number that depends on id and seed only: the order is the same on every page and machine. CRC-32 is linear and would not do. */
function draw(id: number, seed: number): number {
  return Bun.hash.xxHash32(`${seed} ${id}`);
}
