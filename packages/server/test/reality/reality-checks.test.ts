import { expect, test } from "bun:test";
import { EnvironmentReality, RealityCheck, RealityCheckDetail, RealityFigures } from "@presage/contract";
import { testKey } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

/** For each task: one success that is real, one that is not, one failure in both; every fifth task succeeds only in reality. */
const pairs = Array.from({ length: 20 }, (_, task) => [
  { task_id: `t${task}`, policy: "early", simulated: true, real: true },
  { task_id: `t${task}`, policy: "late", simulated: true, real: task % 2 === 0 },
  { task_id: `t${task}`, policy: "none", simulated: false, real: task % 5 === 0 },
]).flat();

onAnyDatabase((database) => {
  const presage = usePresage({ database });

  async function create(body: object): Promise<RealityCheck> {
    const response = await presage.call("POST", "/v1/reality-checks", { name: "lab", ...body });
    const text = await response.text();
    expect([response.status, text]).toEqual([201, expect.any(String)]);
    return RealityCheck.parse(JSON.parse(text));
  }

  test("pairs of outcomes say how often success in simulation is real, for each policy too", async () => {
    const { id } = await create({ pairs, environment: "sandbox", false_success_limit: 0.1 });
    const response = await presage.call("GET", `/v1/reality-checks/${id}`);
    const { figures, episodes } = RealityCheckDetail.parse(await response.json());
    expect(episodes).toBe(60);
    expect(figures.counts).toEqual({ both: 30, only_simulated: 10, only_real: 4, neither: 16 });
    expect(figures.false_success_rate).toMatchObject({ value: 0.25, count: 40, tasks: 20, note: null });
    expect(figures.outcome).toBe("above");
    expect(figures.sentence).toMatch(
      /^Of 40 episodes in 20 tasks that succeeded in simulation, 10 failed in reality: 25\.0 % \(95 % interval \d+\.\d % to \d+\.\d %\)\.$/,
    );
    expect(figures.bias.value).toBeCloseTo((40 - 34) / 60, 12);
    expect(figures.policies.map(({ policy, false_success_rate: { value } }) => [policy, value])).toEqual([
      ["early", 0],
      ["late", 0.5],
      ["none", null],
    ]);
    expect(figures.policy_order).toMatchObject({ policies: 3, note: null });
    expect(figures.consistency).toBeNull();

    const all = await presage.call("GET", "/v1/environments/sandbox/reality?policy=late");
    const ofEnvironment = EnvironmentReality.parse(await all.json());
    expect(ofEnvironment).toMatchObject({
      state: null,
      limited_check: { id, false_success_limit: 0.1, outcome: "above", sentence: figures.sentence },
    });
    expect(ofEnvironment.counts).toEqual({ both: 10, only_simulated: 10, only_real: 0, neither: 0 });
    // What counts is when an episode was checked, however old its check is; a running check has no outcome against a limit.
    await using opened = await openStore(presage.databaseUrl);
    const old = { created_at: 1, status: "running" } as const;
    await opened.database.updateTable("reality_checks").set(old).where("id", "=", id).execute();
    const going = await presage.call("GET", "/v1/environments/sandbox/reality");
    expect(EnvironmentReality.parse(await going.json()).limited_check).toBeNull();
    const show = (from: string) => presage.call("GET", `/v1/environments/sandbox/reality?from=${from}`);
    const since = async (from: string) => RealityFigures.parse(await (await show(from)).json()).counts;
    expect(await since("2020-01-01T00:00:00Z")).toEqual(figures.counts);
    expect((await since("2100-01-01T00:00:00Z")).both).toBe(0);
  });

  test("policies beyond what can be compared have no figures, and no order", async () => {
    const many = Array.from({ length: 201 }, (_, index) => ({
      ...{ task_id: "t", policy: `step-${index}`, simulated: true, real: index % 2 === 0 },
    }));
    const { id } = await create({ pairs: many });
    const response = await presage.call("GET", `/v1/reality-checks/${id}`);
    const { figures } = RealityCheckDetail.parse(await response.json());
    expect(figures.policies).toHaveLength(200);
    expect(figures.policy_order).toEqual({
      kendall_tau: null,
      policies: 201,
      note: "Only the last 200 policies have figures.",
    });
  });

  test("too few tasks have no interval, and what cannot be known no value", async () => {
    const few = [{ task_id: "t", simulated: false, real: false }];
    const { id } = await create({ pairs: few, false_success_limit: 0.1 });
    const response = await presage.call("GET", `/v1/reality-checks/${id}`);
    const { figures } = RealityCheckDetail.parse(await response.json());
    expect(figures).toMatchObject({
      ...{ sentence: "No checked episode succeeded in simulation.", outcome: "undecided" },
      false_success_rate: { value: null, note: "No episode succeeded in simulation." },
      missed_success_rate: { value: 0, interval: null, note: "Too few tasks: an interval takes 6." },
    });
  });

  test("a repeated request gets its first answer, whatever is gone since", async () => {
    const made = await presage.call("POST", "/v1/environments", { name: "house" });
    expect(made.status).toBe(201);
    const body = { name: "lab", environment: "house", pairs };
    const create = () =>
      presage.call("POST", "/v1/reality-checks", body, {
        authorization: `Bearer ${testKey}`,
        "idempotency-key": "one",
      });
    const first = await create();
    expect(first.status).toBe(201);
    expect((await presage.call("DELETE", "/v1/environments/house")).status).toBe(204);
    const again = await create();
    expect([again.status, await again.json()]).toEqual([201, await first.json()]);
    const other = { ...body, name: "other" };
    const reused = await presage.call("POST", "/v1/reality-checks", other, {
      authorization: `Bearer ${testKey}`,
      "idempotency-key": "one",
    });
    expect(reused.status).toBe(422);
  });

  test("pairs may be sent a line each, with what is beside them in the query", async () => {
    const headers = { authorization: `Bearer ${testKey}`, "content-type": "application/x-ndjson" };
    const send = (query: string, lines: string, more = {}) =>
      fetch(`${presage.url}/v1/reality-checks?${query}`, {
        ...{ method: "POST", headers: { ...headers, ...more }, body: lines },
      });
    const lines = pairs.map((pair) => JSON.stringify(pair)).join("\n\n");
    const query = "name=of+lines&environment=sandbox&environment_revision=1&false_success_limit=0.1";
    const once = { "idempotency-key": "lines" };
    const made = await send(query, lines, once);
    const check = RealityCheck.parse(await made.json());
    expect([made.status, check]).toMatchObject([
      201,
      { name: "of lines", environment: "sandbox", environment_revision: 1, false_success_limit: 0.1 },
    ]);
    expect([check.source, check.episodes]).toEqual(["pairs", 60]);
    expect(await (await send(query, lines, once)).json()).toEqual(check);
    const wrong = async (query: string, body: string) => {
      const refused = await send(query, body);
      const { detail } = (await refused.json()) as { detail: { loc: unknown[] }[] };
      return [refused.status, detail[0]?.loc];
    };
    expect(await wrong("name=lab", `${lines}\n{"task_id": "t", "simulated": 1, "real": true}`)).toEqual([
      422,
      ["body", "line", 120, "simulated"],
    ]);
    expect(await wrong("name=lab", `${lines}\n${lines}`)).toEqual([422, ["body", "line", 120]]);
    expect(await wrong("name=lab", "")).toEqual([422, ["body", "pairs"]]);
    expect(await wrong("", lines)).toEqual([422, ["query", "name"]]);
    expect(await wrong("name=lab&environment=none", lines)).toEqual([422, ["query", "environment"]]);
    expect(await wrong("name=lab&environment_revision=1", lines)).toEqual([422, ["query", "environment"]]);
    expect(await wrong("name=lab&false_success_limit=x", lines)).toEqual([
      422,
      ["query", "false_success_limit"],
    ]);
  });

  test("a pair that is there twice is named, and a check that is deleted is gone", async () => {
    for (const field of ["limit", "seed", "revision", "success_reward"]) {
      const refused = await presage.call("POST", "/v1/reality-checks", { name: "lab", pairs, [field]: 1 });
      expect([refused.status, await refused.json()]).toMatchObject([
        422,
        { detail: [{ loc: ["body", field] }] },
      ]);
    }
    const twice = [pairs[0], pairs[1], pairs[0]];
    const refused = await presage.call("POST", "/v1/reality-checks", { name: "lab", pairs: twice });
    expect([refused.status, await refused.json()]).toMatchObject([
      422,
      {
        detail: [{ loc: ["body", "pairs", 2], msg: expect.stringContaining("in pair 1") }],
      },
    ]);
    const most = Array.from({ length: 10_000 }, (_, task) => ({
      ...{ task_id: `${task}`.padStart(100, "0"), simulated: true, real: true },
    }));
    expect(await create({ pairs: most })).toMatchObject({ episodes: 10_000 });
    const { id } = await create({ pairs });
    expect((await presage.call("DELETE", `/v1/reality-checks/${id}`)).status).toBe(204);
    expect((await presage.call("GET", `/v1/reality-checks/${id}`)).status).toBe(404);
  });
});
