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
export const nearDistance = 0.1;

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
