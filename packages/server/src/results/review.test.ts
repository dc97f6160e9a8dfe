import { expect, test } from "bun:test";
import { type Candidate, rankByCertainty, rankByChance } from "./review.ts";

const verdict = (id: number, fields: Partial<Candidate>): Candidate => ({
  id,
  evaluator_id: "near-2026-01-01",
  evaluator_family: "near",
  public_id: "profile",
  revision: 1,
  run_id: null,
  dataset_id: null,
  sample_key: null,
  pass: 1,
  score: 1,
  isModelJudged: false,
  isOther: false,
  threshold: undefined,
  correction_id: null,
  baseline_id: null,
  label_id: null,
  ...fields,
});

test("only a score that a threshold decides is near it, and a full score never is", () => {
  const near = { score: 0.9, threshold: 0.95, pass: 0 as const };
  const ranked = rankByCertainty(
    [
      verdict(1, near),
      verdict(2, { ...near, score: 0.5 }),
      verdict(3, { ...near, score: 1, pass: 1 as const }),
      verdict(4, { ...near, score: 1, threshold: 1, pass: 1 as const }),
      verdict(5, { score: 0.999 }),
      verdict(6, { score: 0, pass: 0 }),
    ],
    1,
  );
  expect(ranked[0]).toMatchObject({ id: 1, reason: "near-threshold" });
  expect(ranked[0]?.distance).toBeCloseTo(0.05, 9);
  expect(ranked.slice(1).map(({ distance, reason }) => [distance, reason])).toEqual(
    Array.from({ length: 5 }, () => [null, "drawn"]),
  );
});

test("where no score is near its threshold, a model's verdict comes before rules'", () => {
  const ranked = rankByCertainty(
    [
      verdict(1, {}),
      verdict(2, { pass: 0, score: 0.2, threshold: 0.9 }),
      verdict(3, { evaluator_id: "judge", isModelJudged: true, score: 0.5 }),
      verdict(4, { pass: 0, score: 0.85, threshold: 0.9 }),
    ],
    1,
  );
  expect(ranked.map(({ reason }) => reason)).toEqual(["near-threshold", "model-judged", "drawn", "drawn"]);
  expect(ranked.slice(0, 2).map(({ id }) => id)).toEqual([4, 3]);
});

test("of evaluators that disagree on a sample of a run, a model's verdict stands for all", () => {
  const of = (id: number, sample: string, evaluator: string, pass: 0 | 1, more: Partial<Candidate> = {}) =>
    verdict(id, { run_id: "run", sample_key: sample, evaluator_id: evaluator, pass, ...more });
  const judge = { isModelJudged: true };
  const candidates = [
    of(1, "a", "near", 1),
    of(2, "a", "judge", 0, judge),
    of(3, "b", "near", 0),
    of(4, "b", "judge", 0, judge),
    of(5, "c", "near", 0),
    of(6, "c", "judge", 1, { ...judge, label_id: "1" }),
    // Only read to be compared.
    of(7, "d", "near", 1, { isOther: true }),
    of(8, "d", "bleu", 0),
  ];
  const ranked = rankByCertainty(candidates, 1);
  expect(ranked.map(({ id }) => id).sort()).toEqual([2, 3, 4, 5, 8]);
  expect(
    ranked
      .slice(0, 2)
      .map(({ id, reason, evaluators }) => [id, reason, evaluators])
      .sort(),
  ).toEqual([
    [2, "evaluators-disagree", { passed: 1, not_passed: 1 }],
    [8, "evaluators-disagree", { passed: 1, not_passed: 1 }],
  ]);
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
  // The variance of 100 of 1,000, drawn without replacement.
  const expected = (0.25 / drawn) * (1 - drawn / candidates.length);
  expect(variance / expected).toBeWithin(0.6, 1.6);
});
