import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Comparison, type ComparisonCandidate, RunReport } from "@presage/contract";
import { z } from "zod";
import { usePresage } from "../support/presage/use-presage.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import {
  type StoredPrediction,
  type StoredRun,
  storeRevision,
  storeRun,
} from "../support/store/store-run.ts";

/** Written and described by `reference-reports.fixture.py`. The variable names the path of another one. */
const fixture =
  process.env.PRESAGE_REFERENCE_REPORTS ?? new URL("reference-reports.fixture.jsonl", import.meta.url);
const verdict = z.tuple([z.number().nullable(), z.literal([0, 1])]);
const unchangedVerdict = z.tuple([z.number(), z.literal([0, 1])]);
const figures = z.record(z.string(), z.json());
const strata = z.array(figures);
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
        outcomes: z.array(z.array(z.union([verdict, z.literal(["failed", "error", "not_applicable"])]))),
        unchanged: z.array(unchangedVerdict.nullable()),
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
    reference: figures,
    candidates: z.array(
      z.looseObject({ strata: z.strictObject({ step: strata, changed: strata, changes: strata }) }),
    ),
  }),
});

const lines = readFileSync(fixture, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => Line.parse(JSON.parse(line)));

type ReferenceRun = z.infer<typeof Line>["runs"][number]["run"];

const counts: ReadonlySet<string> = new Set([
  ...["samples", "count", "without_verdict", "verdicts", "graded", "failed", "not_applicable"],
  ...["trajectories", "wins", "losses", "ties", "only_in_reference", "only_in_candidate"],
  ...["trajectories_for_1_point", "key"],
]);

/** Counts exactly, everything else to 1e-9. */
function near(value: unknown, name = ""): unknown {
  if (typeof value === "number") return counts.has(name) ? value : expect.closeTo(value, 9);
  if (Array.isArray(value)) return value.map((one) => near(one));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, near(one, key)]));
}

function toStoredRun({ repeats, outcomes, unchanged }: ReferenceRun): StoredRun {
  const predictions = outcomes.map((ofSample, index) =>
    ofSample.map((one, repeat): StoredPrediction => {
      if (one === "failed") return { failed: "upstream" };
      if (one === "error") return { verdicts: [{ status: "failed" }] };
      if (one === "not_applicable") return { verdicts: [{ status: one }] };
      const before = repeat === 0 ? unchanged[index] : null;
      const [score, pass] = one;
      const verdict = { score, pass: pass === 1 };
      if (!before) return { verdicts: [verdict] };
      return { verdicts: [{ ...verdict, unchanged: { score: before[0], pass: before[1] === 1 } }] };
    }),
  );
  return { repeats, predictions };
}

onAnyDatabase((database) => {
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
    const byKey = (one: { key?: unknown }, other: { key?: unknown }) =>
      `${one.key}` < `${other.key}` ? -1 : 1;
    for (const [place, { report }] of line.runs.entries()) {
      const { evaluators } = RunReport.parse(await read(`/v1/runs/${ids[place]}/report`));
      const { strata, ...overall } = evaluators[0] as RunReport["evaluators"][number];
      expect(overall).toMatchObject(near(report.overall) as typeof overall);
      for (const [name, expected] of Object.entries(report.strata)) {
        const shown = strata[name as keyof typeof strata].filter(({ count, failed }) => count + failed > 0);
        expect(shown.toSorted(byKey)).toEqual(near(expected.toSorted(byKey)) as typeof shown);
      }
    }
    const comparison = Comparison.parse(await read(`/v1/comparisons?runs=${ids.join(",")}`));
    const { reference, candidates } = comparison.evaluators[0] as Comparison["evaluators"][number];
    expect(reference).toEqual({
      ...(near(line.comparison.reference) as typeof reference),
      run_id: ids[0] ?? "",
    });
    expect(candidates).toHaveLength(line.comparison.candidates.length);
    for (const [place, { strata, ...expected }] of line.comparison.candidates.entries()) {
      const { strata: found, ...candidate } = candidates[place] as ComparisonCandidate;
      expect(candidate).toEqual({ ...(near(expected) as typeof candidate), run_id: ids[place + 1] ?? "" });
      for (const name of ["step", "changed", "changes"] as const) {
        expect(found[name].toSorted(byKey)).toEqual(
          near(strata[name].toSorted(byKey)) as (typeof found)[typeof name],
        );
      }
    }
  });
});
