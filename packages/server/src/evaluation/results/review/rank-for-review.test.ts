import { expect, test } from "bun:test";
import { type Candidate, rankByCertainty, rankByChance } from "./rank-for-review.ts";

const verdict = (id: number, fields: Partial<Candidate>): Candidate => ({
  id,
  evaluatorId: "near-2026-01-01",
  profilePublicId: "profile",
  profileRevision: 1,
  runId: null,
  datasetId: null,
  sampleKey: null,
  pass: true,
  score: 1,
  isModelJudged: false,
  isReviewed: false,
  ...fields,
});

test("each evaluator and revision has a beginning of its own", () => {
  const ranked = rankByCertainty(
    [
      verdict(1, { score: 0.9, profileRevision: 2 }),
      verdict(2, { score: 0.88, pass: false, profileRevision: 2 }),
      verdict(3, { score: 0.9 }),
      verdict(4, { score: 0.1, pass: false }),
    ],
    1,
  );
  expect(
    ranked
      .slice(0, 2)
      .map(({ id }) => id)
      .sort(),
  ).toEqual([1, 2]);
  expect(ranked.map(({ reason }) => reason)).toEqual(["near-threshold", "near-threshold", "drawn", "drawn"]);
});

test("where all pass or none has a score, nothing is near", () => {
  const ranked = rankByCertainty(
    [verdict(1, { score: 0.5 }), verdict(2, { score: null, evaluatorId: "other" })],
    1,
  );
  expect(ranked.map(({ distance }) => distance)).toEqual([null, null]);
});

test("of verdicts that are equally far, a model's comes first", () => {
  const [first] = rankByCertainty(
    [
      verdict(1, {}),
      verdict(2, { pass: false, score: 0 }),
      verdict(3, { evaluatorId: "judge", isModelJudged: true }),
      verdict(4, { evaluatorId: "judge", isModelJudged: true, pass: false, score: 0, isReviewed: true }),
    ],
    1,
  );
  expect(first).toMatchObject({ id: 3, reason: "model-judged", distance: 0.5 });
});

test("results without a verdict are not reviewed", () => {
  const candidates = [verdict(1, { pass: null }), verdict(2, {})];
  expect(rankByCertainty(candidates, 1).map(({ id }) => id)).toEqual([2]);
  expect(rankByChance(candidates, 1).map(({ id }) => id)).toEqual([2]);
});

test("what a seed draws is as likely to have one kind as another, where kinds take turns", () => {
  const candidates = Array.from({ length: 1_000 }, (_, index) => verdict(1_000 + index, {}));
  const drawn = 100;
  const seeds = 100;
  let variance = 0;
  for (let seed = 0; seed < seeds; seed++) {
    const even = rankByChance(candidates, seed)
      .slice(0, drawn)
      .filter(({ id }) => id % 2 === 0);
    variance += (even.length / drawn - 0.5) ** 2 / seeds;
  }
  // Of 100 of 1,000, drawn without replacement.
  const expected = (0.25 / drawn) * (1 - drawn / candidates.length);
  expect(variance / expected).toBeWithin(0.6, 1.6);
});
