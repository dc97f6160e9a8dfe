import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Comparison, type ComparisonCandidate, type RunFigures, RunReport } from "@presage/contract";
import { z } from "zod";
import { usePresage } from "../support/presage/use-presage.ts";
import { onEachDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import {
  type StoredPrediction,
  type StoredRun,
  storeRevision,
  storeRun,
} from "../support/store/store-run.ts";

/** Made by `reference-reports.fixture.py`, which describes it. */
const verdict = z.tuple([z.number(), z.literal([0, 1])]);
const number = z.number().nullable();
const bounds = z.tuple([z.number(), z.number()]).nullable();
const figures = z.strictObject({
  count: z.int(),
  failed: z.int(),
  trajectories: z.int(),
  mean: number,
  standard_error: number,
  interval: bounds,
  pass_rate: number,
  pass_standard_error: number,
  pass_interval: bounds,
  mean_failures_as_zero: number,
  pass_rate_failures_as_zero: number,
  no_change: z.tuple([z.number(), z.number(), z.int()]).nullable(),
});
const key = z.union([z.string(), z.int()]);
const strata = z.array(z.tuple([key, figures]));
const difference = { difference: number, p_value: number, interval: bounds };
const differences = z.array(
  z.tuple([
    key,
    z.strictObject({ count: z.int(), reference_mean: z.number(), mean: z.number(), ...difference }),
  ]),
);
const Line = z.strictObject({
  name: z.string(),
  revisions: z.array(
    z.array(
      z.strictObject({
        trajectory: z.string(),
        step: z.int(),
        changes: z.int().nullable(),
        verb: z.string(),
        tags: z.record(z.string(), z.string()),
      }),
    ),
  ),
  runs: z.array(
    z.strictObject({
      revision: z.int(),
      run: z.strictObject({
        repeats: z.int(),
        outcomes: z.array(z.array(z.union([verdict, z.literal(["failed", "error"])]))),
        unchanged: z.array(verdict.nullable()),
      }),
      report: z.strictObject({
        overall: figures,
        strata: z.strictObject({
          step: strata,
          trajectory: strata,
          changed: strata,
          changes: strata,
          verb: strata,
          tag: strata,
        }),
      }),
    }),
  ),
  comparison: z.strictObject({
    reference: z.record(z.string(), z.number()),
    candidates: z.array(
      z.strictObject({
        mean: z.number(),
        pass_rate: z.number(),
        count: z.int(),
        trajectories: z.int(),
        ...difference,
        p_permutation: z.number(),
        p_adjusted: z.number(),
        wins: z.int(),
        losses: z.int(),
        ties: z.int(),
        only_in_reference: z.int(),
        only_in_candidate: z.int(),
        mean_failures_as_zero: z.number(),
        difference_failures_as_zero: z.number(),
        min_detectable: z.number(),
        trajectories_for_1_point: z.int(),
        strata: z.strictObject({ step: differences, changes: differences }),
      }),
    ),
  }),
});

const lines = readFileSync(new URL("reference-reports.fixture.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => Line.parse(JSON.parse(line)));

type ReferenceRun = z.infer<typeof Line>["runs"][number]["run"];

/** Counts exactly, everything else to 1e-9. */
function near(value: number | null): unknown {
  return value === null || Number.isInteger(value) ? value : expect.closeTo(value, 9);
}

function nearBounds(interval: z.infer<typeof bounds>): unknown {
  return interval && { level: 0.95, lower: closeTo(interval[0]), upper: closeTo(interval[1]) };
}

function closeTo(value: number): unknown {
  return expect.closeTo(value, 9);
}

function nearAll(values: Record<string, number | null>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, near(value)]));
}

function nearFigures({
  interval,
  pass_interval,
  no_change,
  ...rest
}: z.infer<typeof figures>): Partial<Record<keyof RunFigures, unknown>> {
  return {
    ...nearAll(rest),
    interval: nearBounds(interval),
    pass_interval: nearBounds(pass_interval),
    no_change: no_change && {
      mean: closeTo(no_change[0]),
      pass_rate: closeTo(no_change[1]),
      count: no_change[2],
    },
  };
}

function toStoredRun({ repeats, outcomes, unchanged }: ReferenceRun): StoredRun {
  const predictions = outcomes.map((ofSample, index) =>
    ofSample.map((one, repeat): StoredPrediction => {
      if (one === "failed") return { failed: "upstream" };
      if (one === "error") return { verdicts: [{ status: "failed" }] };
      const before = repeat === 0 ? unchanged[index] : null;
      const [score, pass] = one;
      const verdict = { score, pass: pass === 1 };
      if (!before) return { verdicts: [verdict] };
      return { verdicts: [{ ...verdict, unchanged: { score: before[0], pass: before[1] === 1 } }] };
    }),
  );
  return { repeats, predictions };
}

onEachDatabase((database) => {
  const presage = usePresage({ database });

  async function read(path: string): Promise<unknown> {
    const response = await presage.call("GET", path);
    expect(response.status).toBe(200);
    return await response.json();
  }

  test.each(lines)("$name: reports and comparison have the reference's figures", async (line) => {
    const ids: string[] = [];
    await using opened = await openStore(presage.databaseUrl);
    const accountId = opened.owner.account_id;
    const revisions = [];
    for (const samples of line.revisions) {
      revisions.push(await storeRevision(opened.database, accountId, samples));
    }
    for (const { revision, run } of line.runs) {
      ids.push(await storeRun(opened.database, accountId, revisions[revision], toStoredRun(run)));
    }
    for (const [place, { report }] of line.runs.entries()) {
      const { evaluators } = RunReport.parse(await read(`/v1/runs/${ids[place]}/report`));
      const [found] = evaluators;
      expect(found).toMatchObject(nearFigures(report.overall));
      for (const [name, expected] of Object.entries(report.strata)) {
        const strata = found?.strata[name as keyof typeof report.strata] ?? [];
        const shown = strata.filter(({ count, failed }) => count + failed > 0);
        expect(shown.map((stratum) => stratum.key).sort()).toEqual(expected.map(([key]) => key).sort());
        for (const [key, one] of expected) {
          expect(strata.find((stratum) => stratum.key === key)).toMatchObject(nearFigures(one));
        }
      }
    }
    const comparison = Comparison.parse(await read(`/v1/comparisons?runs=${ids.join(",")}`));
    const [compared] = comparison.evaluators;
    expect(compared?.reference).toMatchObject(nearAll(line.comparison.reference));
    expect(compared?.candidates).toHaveLength(line.comparison.candidates.length);
    for (const [place, { strata, interval, ...expected }] of line.comparison.candidates.entries()) {
      const candidate = compared?.candidates[place] as ComparisonCandidate;
      expect(candidate).toMatchObject({ ...nearAll(expected), interval: nearBounds(interval) });
      for (const name of ["step", "changes"] as const) {
        expect(candidate.strata[name]).toHaveLength(strata[name].length);
        for (const [key, { interval, ...one }] of strata[name]) {
          const found = candidate.strata[name].find((stratum) => stratum.key === key);
          expect(found).toMatchObject({ ...nearAll(one), interval: nearBounds(interval) });
        }
      }
    }
  });
});
