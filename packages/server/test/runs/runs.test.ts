import { describe, expect, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { say } from "../support/upstream/judge.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

/** Three trajectories of three steps; each state is the next state of the step before. */
const samples = ["a", "b", "c"].flatMap((trajectory) =>
  [0, 1, 2].map((step) => ({
    trajectory_id: trajectory,
    step,
    context: { task_context: "Count." },
    interaction: { state: `${trajectory}${step}`, action: step === 2 ? "Stop now" : "go on" },
    next_state: step === 2 ? `${trajectory}${step}` : `${trajectory}${step + 1}`,
    tags: { split: trajectory === "a" ? "train" : "test" },
  })),
);

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({
    database,
    get PRESAGE_UPSTREAM_URL() {
      return upstream.url;
    },
  });
  const datasets = datasetClient(presage);
  const { create, end, change, read, samples: listSamples, exported } = runClient(presage);

  /** Makes the upstream answer with `next`; returns the user's turns that it receives from now on. */
  function answerWith(next: (state: string, action: string) => string | Response): string[] {
    const told: string[] = [];
    upstream.answer = ({ body }) => {
      const turn = body.messages.at(-1)?.content ?? "";
      told.push(turn);
      const [, state = "", action = ""] = /^State: (.*)\n\nAction: (.*)$/s.exec(turn) ?? [];
      const answer = next(state, action);
      return typeof answer === "string" ? Response.json(completion(answer)) : answer;
    };
    return told;
  }

  const upBy = (by: number) => (state: string, action: string) =>
    action === "Stop now" ? state : `${state[0]}${Number(state.slice(1)) + by}`;

  async function newDataset(): Promise<string> {
    const id = await datasets.create();
    await datasets.uploadNew(id, samples);
    return id;
  }

  test("runs without a name are told apart, also if they are made at once", async () => {
    answerWith(upBy(1));
    const dataset_id = await newDataset();
    const make = () =>
      create({ dataset_id, target: { baseline: "no-change" }, evaluators: [{ evaluator: "exact-match" }] });
    const names = (await Promise.all([make(), make(), make()])).map(({ name }) => name);
    expect(new Set(names).size).toBe(3);
    for (const name of names) expect(name).toMatch(/^no-change \d{4}-\d\d-\d\d \d\d:\d\d( \([23]\))?$/);
  });

  test("a teacher-forced run predicts every sample from the recorded state, and each verdict is an evaluation result", async () => {
    const told = answerWith(upBy(1));
    const dataset_id = await newDataset();
    const created = await create({
      dataset_id,
      target: { deployment: "default" },
      name: "first",
      evaluators: [{ evaluator: "exact-match" }, { evaluator: "state-change" }],
    });
    expect(created).toMatchObject({ status: "queued", mode: "teacher-forced", repeats: 1, revision: 1 });
    const run = await end(created.id);
    expect(run).toMatchObject({
      status: "finished",
      progress: { samples: 9, predicted: 9, evaluated: 9, failed: 0 },
      provenance: { models: ["test-model"], in_sample: false },
      notes: [],
    });
    expect(told.sort()).toEqual(
      samples.map(({ interaction: { state, action } }) => `State: ${state}\n\nAction: ${action}`).sort(),
    );
    const found = await listSamples(run.id);
    expect(found.map(({ dataset_sample_id }) => dataset_sample_id)).toEqual(
      samples.map(({ trajectory_id, step }) => `${trajectory_id}/${step}`),
    );
    expect(found[2]).toMatchObject({
      changes: 0,
      verb: "stop",
      prediction: { status: "success", usage: { prompt_tokens: 11, completion_tokens: 7 } },
      verdicts: [
        { evaluator: expect.stringMatching(/^exact-match-/), pass: true, score: 1 },
        { evaluator: expect.stringMatching(/^state-change-/), pass: true, score: 1 },
      ],
    });
    const search = await presage.call("POST", "/v1/evaluation-results/search", {
      evaluation_run_id: run.id,
      limit: 100,
    });
    const { results } = (await search.json()) as { results: Record<string, unknown>[] };
    expect(results).toHaveLength(18);
    expect(results[0]).toMatchObject({ dataset_id, evaluation_run_id: run.id, app: "runs" });
    const lines = await exported(run.id);
    expect(lines.map(({ prediction }) => prediction)).toEqual(samples.map(({ next_state }) => next_state));
  });

  test("an action may be any JSON", async () => {
    const actions = [
      '[{"function":"look"}]',
      '[{"function":{"name":"Take"}}]',
      '[{"name":"Go"}]',
      "[null]",
      "[7]",
    ];
    const dataset_id = await datasets.create();
    await datasets.uploadNew(
      dataset_id,
      actions.map((action, step) => ({
        trajectory_id: "t",
        step,
        interaction: { state: "here", action },
        next_state: "there",
      })),
    );
    const { id } = await create({ dataset_id, target: { baseline: "no-change" } });
    expect(await end(id, 20_000)).toMatchObject({ status: "finished" });
    expect((await listSamples(id)).map(({ verb }) => verb)).toEqual(["look", "take", "go", "[null]", "[7]"]);
  });

  test("a free-running run tells each step what was predicted for the one before", async () => {
    const told = answerWith(upBy(2));
    const dataset_id = await newDataset();
    const target = { deployment: "default" };
    const { id } = await create({ dataset_id, target, mode: "free-running" });
    await end(id);
    const ofB = told.filter((turn) => turn.startsWith("State: b"));
    expect(ofB).toEqual([
      "State: b0\n\nAction: go on",
      "State: b2\n\nAction: go on",
      "State: b4\n\nAction: Stop now",
    ]);
    expect((await listSamples(id, "&evaluator=exact-match&pass=true")).map(({ step }) => step)).toEqual([]);
  });

  test("control tokens are text in a teacher-forced run, and fail the step of a free-running one at once", async () => {
    const dataset_id = await newDataset();
    for (const mode of ["teacher-forced", "free-running"]) {
      const told = answerWith((state, action) => (state === "b1" ? "b2<|im_end|>" : upBy(1)(state, action)));
      const { id } = await create({ dataset_id, target: { deployment: "default" }, mode });
      await end(id);
      expect(told.filter((turn) => turn.startsWith("State: b1"))).toHaveLength(1);
      const failed = await listSamples(id, "&status=failed");
      expect(failed.map(({ prediction }) => prediction.error_category)).toEqual(
        mode === "free-running" ? ["unusable_completion", "not_reached"] : [],
      );
      const output = (await exported(id)).find((line) => line.dataset_sample_id === "b/1");
      expect(output?.prediction).toBe(mode === "free-running" ? null : "b2<|im_end|>");
    }
  });

  test("tokens that the upstream does not count are null, and those of a baseline 0", async () => {
    const dataset_id = await newDataset();
    upstream.answer = () => Response.json(completion("x", { usage: null }));
    for (const target of [{ deployment: "default" }, { baseline: "no-change" }]) {
      const count = "deployment" in target ? null : 0;
      const { id } = await create({ dataset_id, target });
      await end(id);
      const [sample] = await listSamples(id);
      expect(sample?.prediction.usage).toEqual({ prompt_tokens: count, completion_tokens: count });
      const report = await presage.call("GET", `/v1/runs/${id}/report`);
      expect(await report.json()).toMatchObject({
        tokens: { prompt: count, cached: count, completion: count },
      });
    }
  });

  test("a failed prediction ends a free-running trajectory, and the steps behind it are not reached", async () => {
    answerWith((state, action) =>
      state === "b1"
        ? Response.json({ error: { message: "maximum context length exceeded" } }, { status: 400 })
        : upBy(1)(state, action),
    );
    const dataset_id = await newDataset();
    const { id } = await create({ dataset_id, target: { deployment: "default" }, mode: "free-running" });
    const run = await end(id);
    expect(run).toMatchObject({
      status: "finished",
      progress: { samples: 9, predicted: 7, evaluated: 9, failed: 2 },
    });
    const failed = await listSamples(id, "&status=failed");
    expect(
      failed.map(({ dataset_sample_id, prediction }) => [dataset_sample_id, prediction.error_category]),
    ).toEqual([
      ["b/1", "context_exceeded"],
      ["b/2", "not_reached"],
    ]);
    // Reports show failures in the groups of these samples.
    expect(failed.map(({ verb, changes }) => [verb, changes])).toEqual([
      ["go", 1],
      ["stop", 0],
    ]);
  });

  test("repeats are predictions of their own, each with its own seed", async () => {
    answerWith(upBy(1));
    upstream.received.length = 0;
    const dataset_id = await newDataset();
    const { id } = await create({
      dataset_id,
      target: { deployment: "default" },
      repeats: 3,
      params: { seed: 7, temperature: 0 },
    });
    const run = await end(id);
    expect(run.progress).toMatchObject({ samples: 27, predicted: 27, evaluated: 27, failed: 0 });
    const seeds = Map.groupBy(upstream.received, ({ body }) => body.seed);
    expect([...seeds].map(([seed, calls]) => [seed, calls.length]).sort()).toEqual([
      [7, 9],
      [8, 9],
      [9, 9],
    ]);
    // The first pages end within a sample's repeats.
    const page = await presage.call("GET", `/v1/runs/${id}/samples?limit=2`);
    expect(await page.json()).toMatchObject({ data: [{ repeat: 0 }, { repeat: 1 }], next: "1.1" });
    expect(await listSamples(id, "&trajectory_id=b&step=1")).toHaveLength(3);
    expect(await listSamples(id, "&changed=false")).toHaveLength(9);
  });

  test("baselines need no model", async () => {
    const dataset_id = await newDataset();
    const noChange = await create({ dataset_id, target: { baseline: "no-change" } });
    await end(noChange.id);
    expect((await exported(noChange.id)).map(({ prediction }) => prediction)).toEqual(
      samples.map(({ interaction }) => interaction.state),
    );
    // In the other trajectories every next state is equally common, so the smallest digest decides; the sample's own is never chosen.
    const commonest = await create({ dataset_id, target: { baseline: "most-frequent" } });
    const run = await end(commonest.id);
    expect(run.provenance.in_sample).toBe(true);
    for (const { prediction, trajectory_id } of await exported(commonest.id)) {
      expect(prediction).toMatch(/^[abc][12]$/);
      expect(prediction?.[0]).not.toBe(trajectory_id);
    }
  });

  test("the commonest next state of an action is learnt from another dataset, and ties go to the smallest digest", async () => {
    const from = await datasets.create();
    const lines = ["x", "y", "y", "z", "z"].map((next_state, step) => ({
      trajectory_id: "t",
      step,
      interaction: { state: "s", action: "go on" },
      next_state,
    }));
    await datasets.uploadNew(from, lines);
    const dataset_id = await newDataset();
    const target = { baseline: "most-frequent", from: { dataset_id: from } };
    const { id } = await create({ dataset_id, target });
    const run = await end(id);
    expect(run).toMatchObject({
      target: { baseline: "most-frequent", from: { dataset_id: from, revision: 1 } },
      provenance: { in_sample: false },
    });
    const predicted = (await exported(id)).map(({ prediction }) => prediction);
    // The SHA-256 of z begins with 59, that of y with a1. An unknown action leaves the state unchanged.
    expect(predicted).toEqual(["a", "b", "c"].flatMap((trajectory) => ["z", "z", `${trajectory}2`]));
  });

  test("records answer with what followed the most similar sample of another trajectory", async () => {
    const dataset_id = await datasets.create();
    const open = (trajectory_id: string, colour: string, state: string) => ({
      trajectory_id,
      step: 0,
      interaction: { state, action: `open ${colour} door` },
      next_state: `The ${colour} door of the ${state} is open.`,
    });
    await datasets.uploadNew(dataset_id, [
      open("a", "red", "hall"),
      { trajectory_id: "a", step: 1, interaction: { state: "7", action: "9" }, next_state: "8" },
      open("b", "green", "hall"),
      open("c", "blue", "cellar"),
    ]);
    for (const mode of ["teacher-forced", "free-running"]) {
      const { id } = await create({ dataset_id, target: { baseline: "retrieval" }, mode, repeats: 2 });
      const run = await end(id);
      expect(run).toMatchObject({ target: { baseline: "retrieval" }, provenance: { in_sample: true } });
      const predicted = (await exported(id)).filter(({ repeat }) => repeat === 1);
      // No sample resembles the second, so its state stays; the predicted state resembles that of the third.
      const unknown = mode === "teacher-forced" ? "7" : "The green door of the hall is open.";
      expect(predicted.map(({ prediction }) => prediction)).toEqual([
        "The red door of the hall is open.",
        unknown,
        "The green door of the hall is open.",
        "The blue door of the hall is open.",
      ]);
    }
  });

  test("an evaluator that is named twice judges once", async () => {
    const dataset_id = await newDataset();
    const evaluators = [
      { evaluator: "exact-match" },
      { evaluator: "exact-match", profile_name: "system:default" },
      { evaluator: "exact-match", profile_name: "system:mdlm-exact" },
    ];
    const run = await create({ dataset_id, target: { baseline: "no-change" }, evaluators });
    const [first, second] = [{ profile_name: "system:default" }, { profile_name: "system:mdlm-exact" }];
    expect(run.evaluators).toMatchObject([first, second]);
    const added = await presage.call("POST", `/v1/runs/${run.id}/evaluators`, {
      evaluators: [...evaluators, { evaluator: "contains" }, { evaluator: "contains" }],
    });
    expect(await added.json()).toMatchObject({ evaluators: [first, second, first] });
  });

  test("more evaluators judge the same predictions, and none is asked again", async () => {
    const told = answerWith(upBy(1));
    const dataset_id = await newDataset();
    const { id } = await create({ dataset_id, target: { deployment: "default" } });
    await end(id);
    expect(told).toHaveLength(9);
    const wrong = await presage.call("POST", `/v1/runs/${id}/evaluators`, {
      evaluators: [{ evaluator: "none" }],
    });
    expect(wrong.status).toBe(422);
    const added = await presage.call("POST", `/v1/runs/${id}/evaluators`, {
      evaluators: [{ evaluator: "exact-match" }, { evaluator: "state-change" }],
    });
    expect([added.status, await added.json()]).toMatchObject([
      200,
      { status: "running", progress: { predicted: 9, evaluated: 0 }, evaluators: [{}, {}] },
    ]);
    const run = await end(id);
    expect(run.progress).toMatchObject({ samples: 9, predicted: 9, evaluated: 9, failed: 0 });
    expect(told).toHaveLength(9);
    for (const { verdicts } of await listSamples(id)) expect(verdicts).toHaveLength(2);
  });

  for (const mode of ["teacher-forced", "free-running"])
    test(`an evaluator that a ${mode} run has tries what it failed on again, and only that`, async () => {
      const predict = answerWith(upBy(1));
      const { answer } = upstream;
      let verdict = () => say("No verdict.");
      upstream.answer = (request, ...rest) =>
        request.body.messages.at(-1)?.content?.startsWith("State: ") ? answer(request, ...rest) : verdict();
      const dataset_id = await newDataset();
      const judge = { evaluator: "judge", profile_name: "system:is-concise" };
      const { id } = await create({
        dataset_id,
        mode,
        target: { deployment: "default" },
        evaluators: [{ evaluator: "exact-match" }, judge],
      });
      const reached = mode === "teacher-forced" ? 9 : 3;
      expect((await end(id)).progress).toMatchObject({ predicted: reached, evaluated: 9, failed: 9 });
      verdict = () => say({ reasoning: "Short.", verdict: "pass" });
      const again = () => presage.call("POST", `/v1/runs/${id}/evaluators`, { evaluators: [judge] });
      expect(await (await again()).json()).toMatchObject({ status: "running", evaluators: [{}, {}] });
      expect(await end(id)).toMatchObject({
        status: "finished",
        progress: { predicted: 9, evaluated: 9, failed: 0, failed_predictions: 0 },
      });
      expect(predict).toHaveLength(9);
      for (const { verdicts } of await listSamples(id))
        expect(verdicts.map(({ status }) => status)).toEqual(["success", "success"]);
      expect(await (await again()).json()).toMatchObject({ status: "finished" });
    });

  describe("A run that is under way", () => {
    async function startSlowRun() {
      const gate = Promise.withResolvers<void>();
      upstream.answer = async () => {
        await gate.promise;
        return Response.json(completion("x"));
      };
      upstream.received.length = 0;
      const dataset_id = await newDataset();
      const run = await create({ dataset_id, target: { deployment: "default" }, concurrency: 2 });
      await eventually(
        () => upstream.received.length,
        (count) => count === 2,
      );
      return { id: run.id, dataset_id, open: gate.resolve };
    }

    test("is cancelled within two seconds, once and for all", async () => {
      const { id, open } = await startSlowRun();
      expect(await change(id, "cancel")).toMatchObject({ status: 200, body: { status: "cancelled" } });
      expect(await change(id, "cancel")).toMatchObject({ status: 200, body: { status: "cancelled" } });
      expect((await change(id, "resume")).status).toBe(409);
      expect((await change(id, "pause")).status).toBe(409);
      await Bun.sleep(100);
      open();
      expect(upstream.received).toHaveLength(2);
      expect((await read(id)).progress).toMatchObject({ predicted: 0 });
    });

    test("finishes what it has asked for when it is paused, and continues when it is resumed", async () => {
      const { id, open } = await startSlowRun();
      expect(await change(id, "pause")).toMatchObject({ status: 200, body: { status: "paused" } });
      await Bun.sleep(1_000);
      open();
      await eventually(
        () => read(id),
        ({ progress }) => progress.predicted >= 2,
      );
      expect((await read(id)).status).toBe("paused");
      const asked = upstream.received.length;
      expect(asked).toBeLessThan(9);
      expect(await change(id, "resume")).toMatchObject({ status: 200, body: { status: "running" } });
      expect((await end(id)).progress.predicted).toBe(9);
      expect(upstream.received).toHaveLength(9);
      expect((await change(id, "resume")).status).toBe(409);
    });

    test("keeps its dataset from being deleted, unless it is to be deleted as well", async () => {
      const { id, dataset_id, open } = await startSlowRun();
      const refused = await presage.call("DELETE", `/v1/datasets/${dataset_id}`);
      expect([refused.status, await refused.json()]).toMatchObject([
        409,
        { detail: expect.stringContaining("1 run") },
      ]);
      expect((await presage.call("DELETE", `/v1/datasets/${dataset_id}?with_runs=true`)).status).toBe(204);
      expect((await presage.call("GET", `/v1/runs/${id}`)).status).toBe(404);
      open();
    });

    test("keeps the dataset that its baseline learns from", async () => {
      const [dataset_id, from] = [await newDataset(), await newDataset()];
      const target = { baseline: "most-frequent", from: { dataset_id: from } };
      const { id } = await create({ dataset_id, target });
      expect((await presage.call("DELETE", `/v1/datasets/${from}`)).status).toBe(409);
      expect((await presage.call("DELETE", `/v1/datasets/${from}?with_runs=true`)).status).toBe(204);
      expect((await presage.call("GET", `/v1/runs/${id}`)).status).toBe(404);
    });

    test("can be deleted", async () => {
      const { id, open } = await startSlowRun();
      expect((await presage.call("DELETE", `/v1/runs/${id}`)).status).toBe(204);
      expect((await presage.call("GET", `/v1/runs/${id}`)).status).toBe(404);
      expect((await presage.call("DELETE", `/v1/runs/${id}`)).status).toBe(404);
      open();
    });
  });

  test("runs are listed newest first, a page at a time, and filtered", async () => {
    const dataset_id = await newDataset();
    const target = { baseline: "no-change" };
    const ids: string[] = [];
    for (const name of ["x", "y", "x"]) ids.unshift((await create({ dataset_id, target, name })).id);
    const list = async (query: string) =>
      (await (await presage.call("GET", `/v1/runs?${query}`)).json()) as {
        data: { id: string }[];
        next: string;
      };
    const first = await list(`dataset_id=${dataset_id}&limit=2`);
    const second = await list(`dataset_id=${dataset_id}&limit=2&after=${first.next}`);
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(ids);
    expect(second.next).toBeNull();
    expect((await list(`dataset_id=${dataset_id}&name=x`)).data.map(({ id }) => id)).toEqual([
      ids[0],
      ids[2],
    ] as string[]);
    expect((await list(`dataset_id=${dataset_id}&status=cancelled`)).data).toEqual([]);
    expect((await presage.call("GET", "/v1/runs?dataset=x")).status).toBe(422);
  });

  test("a request that names what there is not is refused, with the place", async () => {
    const dataset_id = await newDataset();
    const empty = await datasets.create();
    const target = { baseline: "no-change" };
    const evaluators = [{ evaluator: "exact-match" }];
    const cases: [body: Record<string, unknown>, place: (string | number)[]][] = [
      [{ dataset_id: "none", target, evaluators }, ["body", "dataset_id"]],
      [{ dataset_id: empty, target, evaluators }, ["body", "dataset_id"]],
      [{ dataset_id, revision: 2, target, evaluators }, ["body", "revision"]],
      [{ dataset_id, target: { deployment: "none" }, evaluators }, ["body", "target", "deployment"]],
      [
        { dataset_id, target: { baseline: "most-frequent", from: { dataset_id: "none" } }, evaluators },
        ["body", "target", "from", "dataset_id"],
      ],
      [{ dataset_id, target, evaluators: [{ evaluator: "none" }] }, ["body", "evaluators", 0, "evaluator"]],
      [{ dataset_id, target, evaluators, repeats: 21 }, ["body", "repeats"]],
      [{ dataset_id, target, evaluators, params: { stream: true } }, ["body", "params", "stream"]],
      [{ dataset_id, target, evaluators, params: { seed: 1e20 }, repeats: 2 }, ["body", "params", "seed"]],
    ];
    for (const [body, loc] of cases) {
      const response = await presage.call("POST", "/v1/runs", body);
      const { detail } = (await response.json()) as { detail: unknown };
      expect([response.status, detail]).toMatchObject([422, [{ loc }]]);
    }
  });

  test("one Idempotency-Key makes one run; two people who start the same make two", async () => {
    const dataset_id = await newDataset();
    const body = {
      dataset_id,
      target: { baseline: "no-change" },
      evaluators: [{ evaluator: "exact-match" }],
    };
    const start = async (key: string) => {
      const headers = { "x-api-key": "bootstrap-key-of-the-tests-0123456789", "idempotency-key": key };
      return ((await (await presage.call("POST", "/v1/runs", body, headers)).json()) as { id: string }).id;
    };
    const [one, again, other] = [await start("one"), await start("one"), await start("other")];
    expect(again).toBe(one);
    expect(other).not.toBe(one);
  });
});
