import { beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { Comparison, HeadlineListResponse, RunListResponse, RunReport } from "@presage/contract";
import { eventually } from "../support/eventually.ts";
import { testKey } from "../support/presage/presage.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { slowTest } from "../support/whole-run.ts";

/** 30 trajectories of 1 to 7 steps; in every third step nothing changes. */
const lengths = new Map(Array.from({ length: 30 }, (_, number) => [`t${number}`, 1 + ((number * 5) % 7)]));
const lines = [...lengths].flatMap(([trajectory_id, steps]) =>
  Array.from({ length: steps }, (_, step) => ({
    ...{ trajectory_id, step, interaction: { state: "shut", action: `do ${step}` } },
    next_state: step % 3 === 0 ? "shut" : `${step}`,
    tags: { kind: steps > 4 ? "long" : "short" },
  })),
);

/** An independent computation: whole trajectories in order of their hashes, the last one cut at the limit. */
function drawn(limit: number, seed: number): string[] {
  const place = (id: string) => createHash("sha256").update(`${seed} ${id}`).digest("hex");
  const order = [...lengths.keys()].sort((a, b) => (place(a) < place(b) ? -1 : 1));
  return order
    .flatMap((id) => Array.from({ length: lengths.get(id) ?? 0 }, (_, step) => `${id}/${step}`))
    .slice(0, limit)
    .sort();
}

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const runs = runClient(presage);
  let dataset_id: string;

  beforeAll(async () => {
    const datasets = datasetClient(presage);
    dataset_id = await datasets.create();
    await datasets.uploadNew(dataset_id, lines);
  });

  const made = async (more: Record<string, unknown>) => {
    const { id } = await runs.create({ dataset_id, target: { baseline: "no-change" }, ...more });
    return await runs.end(id);
  };
  const read = async <Data>(path: string, schema: { parse(data: unknown): Data }): Promise<Data> =>
    schema.parse(await (await presage.call("GET", path)).json());
  const idsOf = async (id: string) =>
    [...new Set((await runs.samples(id)).map((one) => one.dataset_sample_id))].sort();

  test("a pilot predicts the trajectories that its seed draws, and its figures are of those alone", async () => {
    const pilot = await made({ limit: 40, draw_seed: 7, repeats: 2 });
    expect(pilot.provenance.draw).toEqual({ samples: 40, of: lines.length, seed: 7 });
    expect(pilot.progress).toMatchObject({ samples: 80, predicted: 80, evaluated: 80, failed: 0 });
    const wanted = drawn(40, 7);
    expect(await idsOf(pilot.id)).toEqual(wanted);
    expect(await idsOf((await made({ limit: 40 })).id)).toEqual(drawn(40, 1));

    const report = await read(`/v1/runs/${pilot.id}/report`, RunReport);
    const [figures] = report.evaluators;
    const trajectories = new Set(wanted.map((id) => id.split("/")[0])).size;
    const passes = wanted.filter((id) => Number(id.split("/")[1]) % 3 === 0).length;
    expect(figures).toMatchObject({
      ...{ samples: 40, count: 40, without_verdict: 0, verdicts: 80, failed: 0, trajectories },
      pass_rate: expect.closeTo(passes / 40, 12),
      pass_rate_failures_as_zero: expect.closeTo(passes / 40, 12),
      no_change: { count: 40 },
    });
    const { step, tag, verb, trajectory } = figures?.strata ?? {};
    for (const strata of [step, tag, verb, trajectory])
      expect(strata?.reduce((sum, { samples }) => sum + samples, 0)).toBe(40);
    expect(report.provenance.warnings[0]).toBe(`A pilot: 40 of ${lines.length} samples, drawn by seed 7.`);
    const added = await presage.call("POST", `/v1/runs/${pilot.id}/evaluators`, {
      evaluators: [{ evaluator: "edit-distance" }],
    });
    expect(added.status).toBe(200);
    const both = await runs.end(pilot.id);
    expect((await read(`/v1/runs/${both.id}/report`, RunReport)).evaluators[1]).toMatchObject({
      samples: 40,
      count: 40,
    });
  });

  test("a free-running pilot follows the same trajectories", async () => {
    const pilot = await made({ limit: 25, draw_seed: 3, mode: "free-running" });
    const wanted = drawn(25, 3);
    expect(await idsOf(pilot.id)).toEqual(wanted);
    const { survival } = await read(`/v1/runs/${pilot.id}/report`, RunReport);
    expect(survival?.[0]?.trajectories).toBe(new Set(wanted.map((id) => id.split("/")[0])).size);
  });

  test("as many samples as the dataset has are no pilot, and what draws nothing is refused", async () => {
    expect((await made({ limit: lines.length })).provenance.draw).toBeUndefined();
    const refused = async (more: object) => {
      const body = {
        dataset_id,
        target: { baseline: "no-change" },
        evaluators: [{ evaluator: "exact-match" }],
      };
      const response = await presage.call("POST", "/v1/runs", { ...body, ...more });
      const { detail } = (await response.json()) as { detail: { loc: string[] }[] };
      return [response.status, detail[0]?.loc];
    };
    expect(await refused({ limit: 5, target: { predictions: "imported" } })).toEqual([
      422,
      ["body", "limit"],
    ]);
    expect(await refused({ draw_seed: 5 })).toEqual([422, ["body", "draw_seed"]]);
    expect(await refused({ limit: 0 })).toEqual([422, ["body", "limit"]]);
  });

  test("a pilot is compared on its samples, meets no goal and heads no list", async () => {
    const name = "to be trusted";
    const target = { baseline: "most-frequent", from: { dataset_id } };
    const first = await made({ name, target, limit: 20 });
    await presage.call("PUT", `/v1/goals/${encodeURIComponent(name)}`, {
      ...{ evaluator: "exact-match", pass_rate: 0.01 },
    });
    const [listed] = (
      await eventually(
        () => read(`/v1/runs?name=${encodeURIComponent(name)}`, RunListResponse),
        ({ data }) => data.every(({ headline }) => headline !== null),
      )
    ).data;
    expect(listed?.goal).toMatchObject({ state: "undecided", why: "pilot" });
    expect(listed?.headline).toMatchObject({ count: 20 });
    expect((await read(`/v1/runs/${first.id}/report`, RunReport)).goal?.why).toBe("pilot");
    const whole = await made({ name, target });
    expect((await read(`/v1/runs/${whole.id}/report`, RunReport)).previous).toBeNull();
    const { data } = await read("/v1/headlines", HeadlineListResponse);
    expect(data.every(({ run }) => run.provenance.draw === undefined)).toBe(true);
    const later = await made({ name, target, limit: 20 });
    expect((await read(`/v1/runs/${later.id}/report`, RunReport)).previous?.run_id).toBe(whole.id);

    for (const ids of [
      [whole.id, first.id],
      [first.id, whole.id],
    ]) {
      const { runs: compared, evaluators } = await read(`/v1/comparisons?runs=${ids}`, Comparison);
      const leftOut = Object.fromEntries(compared.map(({ id, left_out }) => [id, left_out]));
      expect(leftOut).toEqual({ [whole.id]: lines.length - 20, [first.id]: 0 });
      expect(evaluators[0]?.candidates[0]).toMatchObject({
        ...{ count: 20, only_in_reference: 0, only_in_candidate: 0 },
        ...{ difference: 0, difference_failures_as_zero: 0 },
      });
    }
  });

  slowTest("on the command line a pilot passes no gate, and fails one", async () => {
    const run = (...more: string[]) => {
      const args = ["--dataset", "dataset 1", "--baseline", "no-change", "--evaluator", "exact-match"];
      const server = ["--server", presage.url];
      return runPresage(["run", ...args, ...server, ...more], { PRESAGE_API_KEY: testKey });
    };
    const pilot = ["--limit", "30", "--draw-seed", "2"];
    const plain = await run(...pilot);
    expect([plain.code, plain.stderr]).toEqual([
      0,
      expect.stringContaining(`A pilot: 30 of ${lines.length} samples, drawn by seed 2.`),
    ]);
    const gate = await run(...pilot, "--min-pass-rate", "0.01");
    expect([gate.code, gate.stderr]).toEqual([3, expect.stringContaining("which passes no gate")]);
    expect((await run(...pilot, "--min-pass-rate", "0.01", "--undecided", "pass")).code).toBe(0);
    expect((await run(...pilot, "--min-pass-rate", "0.01", "--undecided", "fail")).code).toBe(2);
    expect((await run(...pilot, "--min-pass-rate", "0.99")).code).toBe(2);
    const wrong = await run("--draw-seed", "2");
    expect([wrong.code, wrong.stderr]).toEqual([1, "--draw-seed needs --limit\n"]);
  });
});
