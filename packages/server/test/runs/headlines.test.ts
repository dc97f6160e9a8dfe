import { beforeAll, expect, test } from "bun:test";
import { HeadlineListResponse, RunListResponse, RunReport } from "@presage/contract";
import { nowMicros } from "../../src/platform/storage/columns.ts";
import { selectRunWithoutHeadline } from "../../src/runs/headlines/headlines-store.ts";
import type { RunTarget } from "../../src/runs/run.ts";
import { eventually } from "../support/eventually.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import {
  evaluatorNamed,
  type StoredRevision,
  type StoredRun,
  storeRevision,
  storeRun,
} from "../support/store/store-run.ts";

const letters = [..."abcdefghijkl"];
const evaluators = [evaluatorNamed("exact-match"), evaluatorNamed("contains")];

/** Predictions for twelve trajectories: `passed` pass, the last `failed` have no prediction, and the rest fail. */
function predictionsOf(passed: number, failed = 0): StoredRun["predictions"] {
  return letters.map((_, index) => {
    if (index >= letters.length - failed) return [{ failed: "timeout" as const }];
    const pass = index < passed;
    const unchanged = { pass: index < 2, score: Number(index < 2) };
    return [
      {
        verdicts: [
          { pass, score: Number(pass), unchanged },
          { pass: true, score: 1 },
        ],
      },
    ];
  });
}

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  let revision: StoredRevision;

  beforeAll(async () => {
    await using opened = await openStore(presage.databaseUrl);
    const samples = letters.map((trajectory) => ({ trajectory, step: 0 }));
    revision = await storeRevision(opened.database, opened.owner.account_id, samples);
  });

  async function store(run: Omit<StoredRun, "evaluators">): Promise<string> {
    await using opened = await openStore(presage.databaseUrl);
    return await storeRun(opened.database, opened.owner.account_id, revision, { ...run, evaluators });
  }

  async function read<Data>(path: string, schema: { parse(data: unknown): Data }): Promise<Data> {
    const response = await presage.call("GET", path);
    expect(response.status).toBe(200);
    return schema.parse(await response.json());
  }

  async function listed(name: string) {
    const { data } = await eventually(
      () => read(`/v1/runs?name=${encodeURIComponent(name)}`, RunListResponse),
      (list) => list.data.every(({ headline }) => headline !== null),
    );
    return data;
  }

  const report = (id: string) => read(`/v1/runs/${id}/report`, RunReport);
  const setGoal = (name: string, goal: object) =>
    presage.call("PUT", `/v1/goals/${encodeURIComponent(name)}`, goal);

  test("A listed run has the figures of its report", async () => {
    const id = await store({ name: "equal figures", predictions: predictionsOf(9, 1) });
    const [run] = await listed("equal figures");
    const { evaluators: reports } = await report(id);
    expect(run?.headline).toMatchObject({ evaluator: "exact-match", count: 11, failed: 1, trajectories: 11 });
    const { cost, baseline_outcome, ...figures } = run?.headline ?? {};
    expect([cost, baseline_outcome]).toEqual([null, null]);
    expect(reports[0]).toMatchObject(figures);
  });

  test("A run that has not ended has no headline", async () => {
    await store({ name: "paused", status: "paused", predictions: predictionsOf(3) });
    const { data } = await read("/v1/runs?name=paused", RunListResponse);
    expect(data.map(({ headline }) => headline)).toEqual([null]);
  });

  test("A cancelled run has its headline once nobody works on it any more", async () => {
    await using opened = await openStore(await database.create());
    const { account_id } = opened.owner;
    const own = await storeRevision(opened.database, account_id, [{ trajectory: "a", step: 0 }]);
    const id = await storeRun(opened.database, account_id, own, { status: "cancelled", predictions: [] });
    const isDue = async (lease: { lease_id: string | null; lease_until: number }) => {
      await opened.database.updateTable("runs").set(lease).where("id", "=", id).execute();
      return (await selectRunWithoutHeadline(opened.database, new Set())) !== undefined;
    };
    const later = nowMicros() + 60_000_000;
    expect(await isDue({ lease_id: "held", lease_until: later })).toBe(false);
    expect(await isDue({ lease_id: "lost", lease_until: 1 })).toBe(true);
    expect(await isDue({ lease_id: null, lease_until: later })).toBe(true);
  });

  test("A finished run is compared in pairs with the best baseline, also with one that is newer", async () => {
    await using opened = await openStore(presage.databaseUrl);
    const { account_id } = opened.owner;
    const own = await storeRevision(
      opened.database,
      account_id,
      letters.map((trajectory) => ({ trajectory, step: 0 })),
    );
    const keep = (name: string, passed: number, target?: RunTarget) =>
      storeRun(opened.database, account_id, own, {
        name,
        evaluators,
        predictions: predictionsOf(passed),
        ...(target && { target }),
      });
    const outcomeOf = async (name: string) => (await listed(name))[0]?.headline?.baseline_outcome;
    await keep("beats", 11);
    await keep("beaten", 0);
    expect(await outcomeOf("beats")).toBeNull();
    const retrieval: RunTarget = { kind: "retrieval" };
    await keep("records", 4, retrieval);
    expect(
      await eventually(
        () => outcomeOf("beats"),
        (outcome) => outcome !== null,
      ),
    ).toBe("better");
    expect(
      await eventually(
        () => outcomeOf("beaten"),
        (outcome) => outcome !== null,
      ),
    ).toBe("undecided");
    expect(await outcomeOf("records")).toBeNull();
    await keep("like the records", 5);
    expect(await outcomeOf("like the records")).toBe("undecided");
  });

  test("A goal is met by the lower end, missed by the upper one, and undecided between", async () => {
    const name = "to / reach";
    const id = await store({ name, predictions: predictionsOf(12) });
    await store({ name: "to miss", predictions: predictionsOf(3) });
    const stateOf = async (of: string) => (await listed(of))[0]?.goal;
    expect(await stateOf(name)).toBeNull();

    const goal = { evaluator: "exact-match", pass_rate: 0.6 };
    expect((await setGoal(name, goal)).status).toBe(200);
    expect(await stateOf(name)).toEqual({
      ...goal,
      run_name: name,
      profile_name: null,
      state: "met",
      why: null,
    });
    expect((await report(id)).goal?.state).toBe("met");
    await setGoal(name, { ...goal, pass_rate: 0.99 });
    expect(await stateOf(name)).toMatchObject({ state: "undecided", why: "within_interval" });
    await setGoal(name, { evaluator: "rouge-l", pass_rate: 0.5 });
    expect(await stateOf(name)).toMatchObject({ state: "undecided", why: "no_figure" });
    await setGoal("to miss", { ...goal, pass_rate: 0.99 });
    expect(await stateOf("to miss")).toMatchObject({ state: "missed", why: null });

    const path = `/v1/goals/${encodeURIComponent(name)}`;
    expect((await presage.call("DELETE", path)).status).toBe(204);
    expect((await presage.call("DELETE", path)).status).toBe(404);
    expect(await stateOf(name)).toBeNull();
    expect((await setGoal(name, { ...goal, pass_rate: 1.2 })).status).toBe(422);
  });

  test("A goal's evaluator is the one that lists show", async () => {
    await store({ name: "by the goal", predictions: predictionsOf(3) });
    await setGoal("by the goal", { evaluator: "contains", profile_name: "system:default", pass_rate: 0.5 });
    const [run] = await listed("by the goal");
    expect(run).toMatchObject({ headline: { evaluator: "contains", pass_rate: 1 }, goal: { state: "met" } });
  });

  test("A report compares with the last run of the name, and says what changed", async () => {
    const world = (number: number): RunTarget => ({
      kind: "world",
      name: "shop",
      revision: number,
      asksModel: true,
    });
    const first = await store({
      name: "nightly",
      target: world(3),
      predictions: predictionsOf(2),
      params: { temperature: 0 },
    });
    await store({ name: "another", target: world(3), predictions: predictionsOf(1) });
    const next = await store({
      name: "nightly",
      target: world(4),
      predictions: predictionsOf(10),
      models: ["larger"],
    });
    expect((await report(first)).previous?.by).not.toBe("name");
    const { previous } = await report(next);
    expect(previous).toMatchObject({
      run_id: first,
      by: "name",
      changes: [
        { what: "world revision", before: "3", after: "4" },
        { what: "model", before: "sandbox", after: "larger" },
        { what: "params.temperature", before: "0", after: null },
      ],
      evaluators: [{ evaluator: "exact-match", outcome: "better", count: 12 }, { evaluator: "contains" }],
    });
    expect(previous?.unchanged).toContain("dataset revision");
    const [compared] = previous?.evaluators ?? [];
    expect(compared?.difference).toBeCloseTo(8 / 12);
    expect(compared?.interval?.lower).toBeGreaterThan(0);

    await listed("nightly");
    expect((await report(next)).previous).toEqual(previous);
    // The memory to read far more samples was not reserved.
    await using opened = await openStore(presage.databaseUrl);
    const change = async (id: string, to: { samples?: number; headline?: null }) =>
      await opened.database.updateTable("runs").set(to).where("id", "=", id).execute();
    await change(first, { samples: 1_000_000 });
    await change(next, { headline: null });
    expect((await report(next)).previous?.run_id).not.toBe(first);
    await change(first, { samples: letters.length });
    await change(next, { headline: null });
    await listed("nightly");
    expect((await presage.call("DELETE", `/v1/runs/${first}`)).status).toBe(204);
    expect((await report(next)).previous).toBeNull();
  });

  test("Headlines are the newest run of each target, beside the best baseline and the run before", async () => {
    const target: RunTarget = { kind: "deployment", deployment: "rows", model: undefined };
    const before = await store({ name: "one", target, predictions: predictionsOf(5) });
    const newest = await store({ name: "two", target, predictions: predictionsOf(9) });
    const retrieval = await store({
      name: "the records",
      target: { kind: "retrieval" },
      predictions: predictionsOf(6),
    });
    const mode = "free-running";
    await store({ name: "free records", mode, target: { kind: "retrieval" }, predictions: predictionsOf(8) });
    await store({ name: "free", mode, target, predictions: predictionsOf(1) });
    for (const name of ["one", "two", "the records", "free records", "free"]) await listed(name);
    const { data } = await read("/v1/headlines", HeadlineListResponse);
    expect(data.filter(({ run }) => "baseline" in run.target)).toEqual([]);
    const [free, ...rows] = data.filter(
      ({ run }) => "deployment" in run.target && run.target.deployment === "rows",
    );
    expect(rows).toMatchObject([
      {
        run: { id: newest, headline: { pass_rate: 0.75 }, goal: null },
        dataset_name: revision.datasetId,
        baseline: { kind: "retrieval", run_id: retrieval, pass_rate: 0.5, count: 12 },
        change: { run_id: before, by: "target", trajectories: 12 },
      },
    ]);
    expect(rows[0]?.change?.difference).toBeCloseTo(4 / 12);
    const best = rows[0]?.baseline;
    expect((await listed("two"))[0]?.headline?.baseline).toEqual(best);
    expect((await report(newest)).evaluators[0]?.baseline).toEqual(best);
    expect((await listed("the records"))[0]?.headline?.baseline).toMatchObject({ kind: "no-change" });
    // A pilot has fewer samples than the baseline's run.
    const draw = { seed: 1, samples: 6, of: 12, trajectories: 6 };
    await store({ name: "pilot", target, draw, predictions: predictionsOf(6).slice(0, 6) });
    expect((await listed("pilot"))[0]?.headline?.baseline).toMatchObject({ kind: "no-change", run_id: null });
    // The newest run has no goal of its own.
    await setGoal("one", { evaluator: "exact-match", pass_rate: 0.9 });
    const again = (await read("/v1/headlines", HeadlineListResponse)).data;
    expect(again.find(({ run }) => run.id === newest)?.run.goal).toMatchObject({
      run_name: "one",
      state: "undecided",
    });
    expect((await listed("two"))[0]?.goal).toBeNull();
    expect(free).toMatchObject({
      run: { mode, headline: { pass_rate: 1 / 12, no_change: null } },
      baseline: { kind: "retrieval", pass_rate: 8 / 12 },
    });
  });
});
