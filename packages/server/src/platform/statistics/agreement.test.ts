import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { z } from "zod";
import { createPairs, krippendorffAlpha, moreLabels, pairAgreement } from "./agreement.ts";

const bounds = z.tuple([z.number(), z.number()]).nullish();
/** Made by `agreement.fixture.py`, which describes them. */
const Line = z.strictObject({
  things: z.array(z.string()),
  trajectories: z.array(z.number()),
  weights: z.array(z.number()),
  kappa: z.number().nullable(),
  ac1: z.number().nullable(),
  alpha: z.number().nullish(),
  kappa_interval: bounds,
  ac1_interval: bounds,
  alpha_interval: bounds,
});
const lines = readFileSync(new URL("./agreement.fixture.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => Line.parse(JSON.parse(line)));

function agreementOf({ things, trajectories, weights }: z.infer<typeof Line>) {
  const pairs = createPairs();
  for (const [index, [first, second]] of things.entries()) {
    if (first === "-" || second === "-") continue;
    const pair = { first: first === "1", second: second === "1" };
    pairs.add(trajectories[index] ?? 0, pair, weights[index]);
  }
  return pairAgreement(
    pairs.end(),
    weights.some((weight) => weight !== 1),
  );
}

const near = (value: number | null) => (value === null ? null : expect.closeTo(value, 9));
const nearBounds = (interval: z.infer<typeof bounds>) =>
  interval ? { level: 0.95, lower: near(interval[0]), upper: near(interval[1]) } : null;

test("κ, AC1 and α of 200 sets are those of statsmodels, irrCAC and krippendorff, with the jackknife's intervals", () => {
  expect(lines).toHaveLength(200);
  for (const line of lines) {
    const { cohen_kappa, gwet_ac1 } = agreementOf(line);
    expect(cohen_kappa.value).toEqual(near(line.kappa));
    expect(gwet_ac1.value).toEqual(near(line.ac1));
    if (line.alpha === undefined) continue;
    const things = line.things.map((said, index) => ({
      cluster: line.trajectories[index] ?? 0,
      passes: said.replaceAll(/[^1]/g, "").length,
      fails: said.replaceAll(/[^0]/g, "").length,
      weight: 1,
    }));
    const alpha = krippendorffAlpha(things);
    expect([alpha.value, alpha.interval]).toEqual([near(line.alpha), nearBounds(line.alpha_interval)]);
    expect(cohen_kappa.interval).toEqual(nearBounds(line.kappa_interval));
    expect(gwet_ac1.interval).toEqual(nearBounds(line.ac1_interval));
  }
});

test("Where all say one thing, κ and α are not defined, and AC1 is", () => {
  const pairs = createPairs();
  for (let trajectory = 0; trajectory < 8; trajectory++) pairs.add(trajectory, { first: true, second: true });
  const { cohen_kappa, gwet_ac1, specificity, agreement } = pairAgreement(pairs.end(), false);
  expect(cohen_kappa).toMatchObject({ value: null, note: expect.stringContaining("All are pass") });
  expect(krippendorffAlpha([{ cluster: 1, passes: 2, fails: 0, weight: 1 }])).toMatchObject({
    value: null,
    note: expect.stringContaining("All are pass"),
  });
  expect(gwet_ac1).toMatchObject({ value: 1, interval: null, note: expect.stringContaining("alike") });
  expect(specificity).toMatchObject({ value: null, count: 0, note: "None was failed by the reference." });
  expect(agreement.interval?.upper).toBe(1);
});

test("With the proposed number of labels the interval is as narrow as aimed at", () => {
  const halfWidthOf = (agreeing: number, labels: number) => {
    const pairs = createPairs();
    for (let at = 0; at < labels; at++) pairs.add(at, { first: true, second: at < agreeing });
    const { agreement } = pairAgreement(pairs.end(), false);
    const { lower = 0, upper = 1 } = agreement.interval ?? {};
    return { half: (upper - lower) / 2, more: moreLabels(agreement) };
  };
  const { more } = halfWidthOf(24, 30);
  expect(more.half_width).toBe(0.1);
  const enough = 30 + (more.count ?? 0);
  expect(halfWidthOf(0.8 * enough, enough).half).toBeCloseTo(0.1, 2);
  expect(moreLabels({ value: null, interval: null, count: 0, effective_trajectories: null })).toEqual({
    half_width: 0.1,
    count: 95,
  });
});
