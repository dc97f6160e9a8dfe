import { type RawBuilder, sql } from "kysely";
import { selectRevisionsByKeys } from "../evaluators/profiles/profiles-store.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Requester } from "../platform/storage/store.ts";
import type { EvaluationServices } from "./evaluation-services.ts";
import type { SearchFilter } from "./search/filter.ts";
import { withTimesAsIds } from "./search/search-results.ts";
import {
  allOf,
  hasStatus,
  isWithin,
  notIndexable,
  remainingConditions,
  type Search,
  selectResultIds,
} from "./search/search-store.ts";
import { latestCorrectionId } from "./write/stored-results-store.ts";

const idsAtOnce = 1_000;

type Matching = Pick<Search, "accountId" | "filter">;

/** Those of some ids whose results match a filter. */
async function selectMatching(
  reader: Database,
  { accountId, filter }: Matching,
  ids: readonly number[],
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select result.id from evaluation_results as result
    where result.id in (${sql.join(ids)}) and ${allOf(conditionsOf({ accountId, filter }))}`.execute(reader);
  return rows.map(({ id }) => id);
}

/** The verdicts of one evaluator and revision of a profile. */
export interface Series {
  evaluatorId: string;
  profilePublicId: string | null;
  profileRevision: number | null;
}

interface Nearest {
  series: Series;
  /** In thousandths, like the distance. */
  threshold: number;
  within: number;
  limit: number;
}

/** Ids of unreviewed verdicts with the scores nearest to a threshold, on both sides of it, without full scores. */
async function selectNearest(
  reader: Database,
  { accountId, filter }: Matching,
  { series, threshold, within, limit }: Nearest,
): Promise<number[]> {
  const ofSeries = [
    ...conditionsOf({ accountId, filter }),
    sql`result.evaluator_id = ${series.evaluatorId}`,
    isSame("profile_public_id", series.profilePublicId),
    isSame("profile_revision", series.profileRevision),
    sql`not exists (select 1 from evaluation_corrections as correction where correction.result_id = result.id)`,
  ];
  const walk = (range: RawBuilder<unknown>, direction: "asc" | "desc") => sql<{ id: number }>`
    select result.id from evaluation_results as result
    where result.account_id = ${accountId} and result.status = 'success' and ${range}
      and ${notIndexable(allOf(ofSeries))}
    order by result.score_mille ${sql.raw(direction)}, result.id ${sql.raw(direction)} limit ${limit}`;
  const ids: number[] = [];
  for (const query of [
    walk(sql`result.score_mille between ${threshold} and ${Math.min(threshold + within, 999)}`, "asc"),
    walk(sql`result.score_mille < ${threshold} and result.score_mille >= ${threshold - within}`, "desc"),
  ]) {
    const { rows } = await query.execute(reader);
    ids.push(...rows.map(({ id }) => id));
  }
  return ids;
}

/** Those of some results whose output is the gold answer, white space at the ends apart. */
async function selectEqualToGold(reader: Database, ids: readonly number[]): Promise<Set<number>> {
  const trimmed = (column: string) => sql`trim(${sql.ref(column)}, ${" \t\r\n"})`;
  const { rows } = await sql<{ id: number }>`select result_id as id from evaluation_payloads
    where result_id in (${sql.join(ids)}) and ${trimmed("output")} = ${trimmed("gold_answer")}`.execute(
    reader,
  );
  return new Set(rows.map(({ id }) => id));
}

function conditionsOf({ accountId, filter }: Matching): RawBuilder<unknown>[] {
  const search: Search = { accountId, filter, page: { order: "newest-first", limit: 1 } };
  return [
    sql`result.account_id = ${accountId}`,
    hasStatus(filter),
    ...remainingConditions({ by: "account" }, search),
    ...isWithin("result.id", filter),
  ];
}

function isSame(column: string, value: string | number | null): RawBuilder<unknown> {
  const ref = sql.ref(`result.${column}`);
  return value === null ? sql`${ref} is null` : sql`${ref} = ${value}`;
}

/** What the order of a review needs to know of results, without their texts. */
async function selectReviewColumns(reader: Database, ids: readonly number[]) {
  const columns = (some: readonly number[]) =>
    reader
      .selectFrom("evaluation_results as result")
      .select([
        "result.id",
        "result.evaluator_id",
        "result.evaluator_family",
        "result.profile_public_id as public_id",
        "result.profile_revision as revision",
        "result.run_id",
        "result.dataset_id",
        "result.sample_key",
        "result.pass",
        "result.score",
      ])
      .select(latestCorrectionId(reader, "result.id").as("correction_id"))
      .where("result.id", "in", some)
      .execute();
  const rows: Awaited<ReturnType<typeof columns>> = [];
  for (let at = 0; at < ids.length; at += idsAtOnce)
    rows.push(...(await columns(ids.slice(at, at + idsAtOnce))));
  return rows;
}

/** As many primary keys are looked up by one statement. */
const drawsAtOnce = 2_000;
/** Where fewer than one in a thousand results matches, a draw of fewer ids has to do. */
const maxDraws = 50_000;

interface DrawWanted {
  accountId: string;
  filter: SearchFilter;
  seed: number;
  /** How many ids to draw. */
  count: number;
}

/** Ids of results that match, each as likely as any other: ids of the whole range are drawn, and those that match are kept. */
async function drawCandidates(
  reader: Database,
  { accountId, filter, seed, count }: DrawWanted,
): Promise<number[]> {
  const end = async (order: "newest-first" | "oldest-first") =>
    (await selectResultIds(reader, { accountId, filter, page: { order, limit: 1 } }))[0];
  const [first, last] = [await end("oldest-first"), await end("newest-first")];
  if (first === undefined || last === undefined) return [];
  const drawn = new Set<number>();
  for (let from = 0; from < maxDraws && drawn.size < count; from += drawsAtOnce) {
    const ids = Array.from({ length: drawsAtOnce }, (_, index) => drawId(seed, from + index, first, last));
    const matching = await selectMatching(reader, { accountId, filter }, [...new Set(ids)]);
    for (const id of matching) drawn.add(id);
  }
  return [...drawn];
}

/** The same for the same seed on every machine. */
function drawId(seed: number, index: number, first: number, last: number): number {
  return first + Number(Bun.hash(`${seed} ${index}`) % BigInt(last - first + 1));
}

/** A verdict that may be reviewed. */
export interface Candidate {
  id: number;
  evaluatorId: string;
  profilePublicId: string | null;
  profileRevision: number | null;
  runId: string | null;
  datasetId: string | null;
  sampleKey: string | null;
  pass: boolean | null;
  score: number | null;
  isModelJudged: boolean;
  /** The lowest score that passes; undefined where no threshold decides. */
  threshold: number | undefined;
  /** A person has corrected or confirmed it. */
  isReviewed: boolean;
}

export interface Ranked {
  id: number;
  reason: "repeats-disagree" | "near-threshold" | "model-judged" | "drawn";
  distance: number | null;
  repeats: { passed: number; notPassed: number } | null;
}

/** Scores this near to their threshold are said to be so. */
const nearDistance = 0.1;

/**
 * The unreviewed verdicts, least certain first: repeats that disagree, of which the rarer verdict stands for all; then scores near their
 * threshold, the nearest first; then models' verdicts before rules'. What is equal is in the order of the seed.
 */
export function rankByCertainty(candidates: readonly Candidate[], seed: number): Ranked[] {
  const repeats = groupRepeats(candidates);
  const ranked = candidates.flatMap((candidate) => {
    if (candidate.isReviewed || candidate.pass === null) return [];
    const group = repeats.get(repeatsOf(candidate) ?? "");
    if (group !== undefined && group.first !== candidate.id) return [];
    const { isModelJudged } = candidate;
    const counts = group === undefined ? null : { passed: group.passed, notPassed: group.notPassed };
    return [{ id: candidate.id, isModelJudged, distance: distanceOf(candidate), repeats: counts }];
  });
  return ranked
    .toSorted(
      (a, b) =>
        Number(b.repeats !== null) - Number(a.repeats !== null) ||
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
    .filter(({ isReviewed, pass }) => !isReviewed && pass !== null)
    .toSorted((a, b) => draw(a.id, seed) - draw(b.id, seed) || b.id - a.id)
    .map(({ id }) => ({ id, reason: "drawn", distance: null, repeats: null }));
}

function reasonOf({
  repeats,
  distance,
  isModelJudged,
}: Omit<Ranked, "id" | "reason"> & { isModelJudged: boolean }): Ranked["reason"] {
  if (repeats !== null) return "repeats-disagree";
  if (distance !== null) return "near-threshold";
  return isModelJudged ? "model-judged" : "drawn";
}

/** Without a distance nothing is known, which is not near. */
function compareDistances(a: number | null, b: number | null): number {
  if (a === b) return 0;
  return (a ?? Number.POSITIVE_INFINITY) - (b ?? Number.POSITIVE_INFINITY);
}

/** Null if it is not near. A full score is not uncertain, however high its threshold is. */
function distanceOf({ score, threshold }: Candidate): number | null {
  if (score === null || threshold === undefined || score >= 1) return null;
  const distance = Math.abs(score - threshold);
  return distance <= nearDistance ? distance : null;
}

interface Repeats {
  /** The newest verdict of the rarer kind. */
  first: number;
  passed: number;
  notPassed: number;
}

/** Repeats that disagree and of which none was reviewed. */
function groupRepeats(candidates: readonly Candidate[]): Map<string, Repeats> {
  const groups = Map.groupBy(candidates, (candidate) => repeatsOf(candidate) ?? "");
  const found = new Map<string, Repeats>();
  for (const [key, members] of groups) {
    const passed = members.filter(({ pass }) => pass === true);
    const notPassed = members.filter(({ pass }) => pass === false);
    if (key === "" || passed.length === 0 || notPassed.length === 0) continue;
    if (members.some(({ isReviewed }) => isReviewed)) continue;
    const rarer = passed.length < notPassed.length ? passed : notPassed;
    const first = Math.max(...rarer.map(({ id }) => id));
    found.set(key, { first, passed: passed.length, notPassed: notPassed.length });
  }
  return found;
}

function seriesOf({ evaluatorId, profilePublicId, profileRevision }: Candidate): string {
  return JSON.stringify([evaluatorId, profilePublicId, profileRevision]);
}

function repeatsOf(candidate: Candidate): string | undefined {
  const { runId, datasetId, sampleKey } = candidate;
  if (runId === null || sampleKey === null) return undefined;
  return JSON.stringify([runId, datasetId, sampleKey, seriesOf(candidate)]);
}

/** A number that id and seed decide, so that the order is the same on every page and machine. CRC-32 would not do: it is linear. */
function draw(id: number, seed: number): number {
  return Bun.hash.xxHash32(`${seed} ${id}`);
}

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
