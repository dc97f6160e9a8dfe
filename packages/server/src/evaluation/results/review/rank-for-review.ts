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
  /** A person has corrected or confirmed it. */
  isReviewed: boolean;
}

export interface Ranked {
  id: number;
  reason: "repeats-disagree" | "near-threshold" | "model-judged" | "drawn";
  distance: number | null;
  repeats: { passed: number; notPassed: number } | null;
}

/** Scores this near to where passing begins are said to be so. */
export const nearDistance = 0.1;

/**
 * The unreviewed verdicts, least certain first: repeats that disagree, of which the rarer verdict stands for all; then by
 * the distance from the score to where passing begins; models' verdicts before rules'. What is equal is in the order of the seed.
 */
export function rankByCertainty(candidates: readonly Candidate[], seed: number): Ranked[] {
  const boundaries = findBoundaries(candidates);
  const repeats = groupRepeats(candidates);
  const ranked = candidates.flatMap((candidate) => {
    if (candidate.isReviewed || candidate.pass === null) return [];
    const boundary = boundaries.get(seriesOf(candidate));
    const distance =
      boundary === undefined || candidate.score === null ? null : Math.abs(candidate.score - boundary);
    const group = repeats.get(repeatsOf(candidate) ?? "");
    if (group !== undefined && group.first !== candidate.id) return [];
    const { isModelJudged } = candidate;
    const counts = group === undefined ? null : { passed: group.passed, notPassed: group.notPassed };
    return [{ id: candidate.id, isModelJudged, distance, repeats: counts }];
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
  if (distance !== null && distance <= nearDistance) return "near-threshold";
  return isModelJudged ? "model-judged" : "drawn";
}

/** Without a distance nothing is known, which is not near. */
function compareDistances(a: number | null, b: number | null): number {
  if (a === b) return 0;
  return (a ?? Number.POSITIVE_INFINITY) - (b ?? Number.POSITIVE_INFINITY);
}

/**
 * Where passing begins, by evaluator and revision of a profile: halfway between the lowest score that passed and the highest that did
 * not. So it needs no config, which imported evaluators do not have.
 */
export function findBoundaries(candidates: readonly Candidate[]): Map<string, number> {
  const ends = new Map<string, { lowestPass: number; highestFail: number }>();
  for (const candidate of candidates) {
    const { pass, score } = candidate;
    if (pass === null || score === null) continue;
    const series = seriesOf(candidate);
    const { lowestPass, highestFail } = ends.get(series) ?? { lowestPass: Infinity, highestFail: -Infinity };
    ends.set(series, {
      lowestPass: pass ? Math.min(lowestPass, score) : lowestPass,
      highestFail: pass ? highestFail : Math.max(highestFail, score),
    });
  }
  const known = [...ends].filter(
    ([, { lowestPass, highestFail }]) => Number.isFinite(lowestPass) && Number.isFinite(highestFail),
  );
  return new Map(
    known.map(([series, { lowestPass, highestFail }]) => [series, (lowestPass + highestFail) / 2]),
  );
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

export function seriesOf({ evaluatorId, profilePublicId, profileRevision }: Candidate): string {
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
