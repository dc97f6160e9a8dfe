import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type {
  RunCalibration,
  RunReport,
  World,
  WorldCoverage,
  WorldModelPrediction,
} from "@presage/contract";
import { sql } from "kysely";
import { episodeClient } from "../support/environments/episode-client.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { worldClient } from "../support/resources/worlds.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const upstream = useUpstream();

/** For every third step, the nearest record has a different answer. */
const lines = Array.from({ length: 20 }, (_, trajectory) =>
  Array.from({ length: 6 }, (_, step) => ({
    trajectory_id: `t-${trajectory}`,
    step,
    interaction: { state: `Shelf ${step}.`, action: `take item ${step}` },
    next_state: step % 3 === 0 ? `Luck ${trajectory}.` : `Taken ${step}.`,
    tags: { split: trajectory < 10 ? "calibration" : "test" },
  })),
).flat();

onAnyDatabase((database) => {
  const presage = usePresage({ database, PRESAGE_UPSTREAM_URL: upstream.url });
  const datasets = datasetClient(presage);
  const worlds = worldClient(presage);
  const runs = runClient(presage);
  const episodes = episodeClient(presage);
  const ofStep = (step: number) => ({ state: `Shelf ${step}.`, action: `take item ${step}` });
  let dataset = "";

  async function predict(world: string, step = 1): Promise<WorldModelPrediction & { headers: Headers }> {
    const response = await presage.call("POST", "/v1/predict", {
      ...{ interaction: ofStep(step), world, explain: true },
    });
    expect(response.status).toBe(200);
    return { ...((await response.json()) as WorldModelPrediction), headers: response.headers };
  }

  async function revise(name: string, body: object, status = 200): Promise<World & { detail: unknown }> {
    const response = await presage.call("PATCH", `/v1/worlds/${name}`, body);
    const text = await response.text();
    expect([response.status, text]).toEqual([status, expect.any(String)]);
    return JSON.parse(text);
  }

  beforeAll(async () => {
    dataset = await datasets.create();
    await datasets.uploadNew(dataset, lines);
  });
  beforeEach(() => {
    upstream.received.length = 0;
  });

  describe("each method's number", () => {
    const answers = (...texts: string[]) => {
      let asked = 0;
      upstream.answer = () => Response.json(completion(texts[asked++ % texts.length] ?? ""));
    };

    test("agreement: the largest group of equal answers, and all tokens are counted", async () => {
      const confidence = { methods: ["agreement"], samples: 4 };
      await worlds.create("agreeing", { examples: { dataset }, confidence });
      answers("A", "B", "B", "C");
      const { response, confidence: none, usage, explain } = await predict("agreeing");
      expect([response.content, none, explain?.score, explain?.predictions]).toEqual(["B", null, 0.5, 4]);
      expect(usage).toEqual({ prompt_tokens: 44, completion_tokens: 28 });
      expect(upstream.received.map(({ body }) => body.temperature)).toEqual([0.7, 0.7, 0.7, 0.7]);
      answers("<think>1</think>A", "<think>2</think>B", "<think>3</think>B", "C");
      const thinking = await predict("agreeing");
      expect([thinking.response.content, thinking.explain?.score]).toEqual(["B", 0.5]);
      upstream.received.length = 0;
      const asked = JSON.stringify({ interaction: ofStep(1), world: "agreeing", params: { seed: 0 } });
      await presage.call("POST", "/v1/predict", asked.replace('"seed":0', '"seed":18446744073709551614'));
      const seeds = upstream.received.map(({ text }) => /"seed":(\d+)/.exec(text)?.[1]);
      expect(seeds.map((seed) => seed?.slice(-4)).sort()).toEqual(["1614", "1634", "1654", "1674"]);
    });

    test("logprob: the tokens' mean probability, where the upstream tells it", async () => {
      await worlds.create("probable", { examples: { dataset }, confidence: { methods: ["logprob"] } });
      const content = [
        { token: "T", logprob: Math.log(0.9) },
        { token: ".", logprob: Math.log(0.4) },
      ];
      upstream.answer = () => {
        const { choices, ...rest } = completion("T.") as { choices: object[] };
        return Response.json({ ...rest, choices: [{ ...choices[0], logprobs: { content } }] });
      };
      expect((await predict("probable")).explain?.score).toBeCloseTo(0.6, 9);
      expect(upstream.received[0]?.body.logprobs).toBe(true);
      answers("T.");
      expect((await predict("probable")).explain?.score).toBeNull();
    });

    test("stated: asked after the answer, and read from JSON or a text", async () => {
      await worlds.create("stating", { examples: { dataset }, confidence: { methods: ["stated"] } });
      for (const [said, score] of [
        ['{"confidence": 0.7}', 0.7],
        ["About 0.8.", 0.8],
        ["<think>0.3 or 0.9?</think>0.6", 0.6],
        ["Very sure", null],
      ]) {
        answers("Taken 1.", String(said));
        const { response, explain } = await predict("stating");
        expect([response.content, explain?.score, explain?.predictions]).toEqual(["Taken 1.", score, 2]);
      }
    });

    test("retrieval: high where similar records agree, low where they do not", async () => {
      const model = { kind: "retrieval" };
      await worlds.create("recalling", {
        ...{ examples: { dataset }, model },
        confidence: { methods: ["retrieval"] },
      });
      const sure = await predict("recalling", 1);
      const unsure = await predict("recalling", 3);
      const searches = () => readMetric(presage, "presage_retrieval_seconds_count");
      const before = await searches();
      expect((await predict("recalling", 1)).headers.get("x-presage-cache")).toBe("off");
      // The search's result is remembered.
      expect(await searches()).toBe(before);
      expect(sure.explain?.score).toBeGreaterThan(0.95);
      expect(unsure.explain?.score).toBeLessThan(0.1);
      expect(upstream.received).toEqual([]);
    });
  });

  test("a calibration on a run makes confidences, which decide who answers", async () => {
    const config = {
      examples: { dataset },
      model: { kind: "retrieval" },
      confidence: { methods: ["retrieval"] },
    };
    await worlds.create("shop", config);
    const early = await revise("shop", { confidence: { methods: ["retrieval"], min_confidence: 0.5 } }, 422);
    expect(JSON.stringify(early.detail)).toContain("not calibrated");
    const run = {
      dataset_id: dataset,
      target: { world: "shop" },
      evaluators: [{ evaluator: "exact-match" }],
    };
    const { id } = await runs.create(run);
    await runs.end(id);
    const request = { run_id: id, split: "calibration" };
    const response = await presage.call("POST", "/v1/worlds/shop/calibrations", request);
    const calibrated = (await response.json()) as World;
    expect([response.status, calibrated.revision]).toEqual([200, 2]);
    expect(calibrated.pinned.calibration).toMatchObject({
      ...{ run_id: id, dataset_id: dataset, revision: 1, split: "calibration" },
      ...{ methods: ["retrieval"], samples: 60, trajectories: 10, table: { kind: "logistic" } },
    });
    const sure = await predict("shop", 1);
    const unsure = await predict("shop", 3);
    expect(sure.confidence).toBeGreaterThan(0.8);
    expect(unsure.confidence).toBeLessThan(0.2);
    expect([sure.abstained, sure.headers.get("x-presage-abstained")]).toEqual([undefined, null]);
    expect(Number(sure.headers.get("x-presage-confidence"))).toBeCloseTo(sure.confidence ?? 0, 5);

    const stale = await presage.call("POST", "/v1/worlds/shop/calibrations", request);
    expect([stale.status, await stale.json()]).toEqual([
      409,
      { detail: "The run is of shop@1, and the latest revision is 2." },
    ]);
    const least = { methods: ["retrieval"], min_confidence: 0.5 };
    expect((await revise("shop", { confidence: least })).pinned.calibration).not.toBeNull();
    const sameInOtherWords = {
      ...{
        description: "A shelf.",
        examples: { dataset, revision: 1 },
        model: { ...config.model, answer: "adapted" },
      },
      ...{ retrieval: { k: 8 }, history: { steps: 4 }, confidence: { ...least, samples: 5 } },
    };
    expect((await revise("shop", sameInOtherWords)).pinned.calibration).not.toBeNull();
    const abstained = await predict("shop", 3);
    expect(abstained).toMatchObject({ abstained: true, confidence: unsure.confidence });
    expect(abstained.response.content).toStartWith("Luck");
    expect((await predict("shop", 1)).abstained).toBe(false);
    const play = async (config: object) => {
      const name = await episodes.environment({ world: "shop", ...config }, { initial_state: "Shelf 3." });
      const stepped = await episodes.send(await episodes.start(name), "take item 3");
      return { status: stepped.status, body: await stepped.json() };
    };
    const answered = () =>
      readMetric(presage, 'presage_world_predictions_total{world="shop",answered_by="retrieval"}');
    const before = await answered();
    const info = { reward_error: expect.stringContaining("less sure") };
    const cut = { terminated: false, truncated: true, reward: null, info };
    const stop = [{ output_contains: "never", outcome: "success" }];
    expect(await play({ stop })).toMatchObject({ status: 200, body: cut });
    const unrewarded = { ...cut, info: { reward_error: null, stop_reason: info.reward_error } };
    expect(await play({})).toMatchObject({ status: 200, body: unrewarded });
    expect(await play({ on_abstain: "answer" })).toMatchObject({ status: 200, body: { truncated: false } });
    const line = await presage.call("GET", "/v1/episodes/export");
    expect(JSON.parse((await line.text()).split("\n")[0] ?? "")).toMatchObject({
      tags: { abstained: "true" },
    });
    const learnt = await presage.call("GET", "/v1/episodes/export?format=sft");
    expect(await learnt.text()).toBe("");
    expect(await play({ on_abstain: "fail" })).toMatchObject({
      ...{ status: 502, body: { category: "unusable_completion" } },
    });
    expect(await answered()).toBe(before + 4);

    const ended = await revise("shop", { retrieval: { k: 1 } }, 422);
    expect(JSON.stringify(ended.detail)).toContain("ends the world's calibration: remove min_confidence");
    const unlike = await presage.call("POST", "/v1/predict", {
      ...{ interaction: { state: "…", action: "…" }, world: "shop" },
    });
    expect(await unlike.json()).toMatchObject({ response: { content: "…" }, confidence: 0, abstained: true });

    await revise("shop", { confidence: { ...least, hide_abstained: true } });
    expect((await predict("shop", 3)).response.content).toBe("");

    upstream.answer = () => Response.json(completion("Taken afresh."));
    await revise("shop", { confidence: { ...least, below: "escalate", escalate_to: "default" } });
    const escalated = await predict("shop", 3);
    expect(escalated).toMatchObject({
      ...{ abstained: false, response: { content: "Taken afresh." } },
      world: { answered_by: "default" },
    });
    expect(JSON.stringify(upstream.received[0]?.body.messages)).toContain("take item 3");
    expect((await predict("shop", 1)).world?.answered_by).toBe("retrieval");
    for (const outcome of ["escalations", "abstentions"])
      expect(await readMetric(presage, `presage_world_${outcome}_total`)).toBeGreaterThan(0);

    const changed = await revise("shop", { retrieval: { k: 1 }, confidence: { methods: ["retrieval"] } });
    expect(changed.pinned.calibration).toBeNull();
    const card = await presage.call("GET", `/v1/runs/${id}/calibration?evaluator=exact-match`);
    const { of, auroc } = (await card.json()) as RunCalibration;
    expect([of, auroc.count]).toEqual(["score", 120]);
    expect(auroc.value).toBeGreaterThan(0.99);
  });

  test("coverage: which examples mislead, and how near they are by kind of action", async () => {
    await worlds.create("covered", { examples: { dataset }, model: { kind: "retrieval" } });
    const coverage = () => presage.call("GET", "/v1/worlds/covered/coverage");
    expect([(await coverage()).status, await (await coverage()).json()]).toEqual([
      ...[404, { detail: "No run through covered@1 has finished." }],
    ]);
    const { id } = await runs.create({
      ...{ dataset_id: dataset, target: { world: "covered" } },
      evaluators: [{ evaluator: "exact-match" }],
    });
    await runs.end(id);
    const counts = { predictions: 120, without_example: 0, judged: 120, right: 80 };
    const found = (await (await coverage()).json()) as WorldCoverage;
    expect(found).toMatchObject({
      run_id: id,
      ...counts,
      actions: [{ verb: "take", nearest: 1, ...counts }],
    });
    // The others' nearest example of such a step is from the first trajectory, whose answer is unique.
    const mislead = [0, 3].map((step) => ({
      ...{ dataset_sample_id: `t-0/${step}`, trajectory_id: "t-0", chosen: 19, wrong: 19 },
      action: `take item ${step}`,
      misled: {
        ...{ dataset_sample_id: `t-1/${step}`, trajectory_id: "t-1", step },
        action: `take item ${step}`,
      },
    }));
    expect(found.misleading).toEqual(mislead);
  });

  test("a card of what the world was calibrated on says so", async () => {
    const config = { examples: { dataset }, model: { kind: "retrieval" } };
    await worlds.create("fitted", { ...config, confidence: { methods: ["retrieval"] } });
    const run = async () => {
      const { id } = await runs.create({
        ...{ dataset_id: dataset, target: { world: "fitted" } },
        evaluators: [{ evaluator: "exact-match" }],
      });
      await runs.end(id);
      return id;
    };
    const card = async (id: string) => {
      const response = await presage.call("GET", `/v1/runs/${id}/calibration`);
      const { fitted_on_it, left_out, auroc, sentence } = (await response.json()) as RunCalibration;
      return [fitted_on_it, left_out, auroc.count, sentence];
    };
    const leak = async (id: string) => {
      const response = await presage.call("GET", `/v1/runs/${id}/report`);
      const { provenance } = (await response.json()) as RunReport;
      return [provenance.leaky, provenance.warnings.some((warning) => warning.startsWith("Leaky: "))];
    };
    const ofWorld = async () => {
      const response = await presage.call("GET", "/v1/worlds/fitted/calibration");
      const { run_id, detail } = (await response.json()) as { run_id?: string; detail?: string };
      return [response.status, run_id ?? detail];
    };
    expect(await ofWorld()).toEqual([404, "No run through fitted@1 has finished."]);
    const first = await run();
    await using opened = await openStore(presage.databaseUrl);
    const { target, ...row } = await opened.database
      .selectFrom("runs")
      .selectAll()
      .where("id", "=", first)
      .executeTakeFirstOrThrow();
    const others = Array.from({ length: 101 }, (_, index) => ({
      ...{ ...row, id: Bun.randomUUIDv7(), name: `other ${index}` },
      ...{ target: target.replace('"fitted"', '"fitted-too"'), created_at: Number(row.created_at) + 1 },
    }));
    await opened.database.insertInto("runs").values(others).execute();
    expect(await ofWorld()).toEqual([200, first]);
    await presage.call("POST", "/v1/worlds/fitted/calibrations", { run_id: first });
    expect(await card(first)).toEqual([
      false,
      0,
      120,
      expect.stringMatching(/^No confidence is high enough/),
    ]);
    const second = await run();
    expect(await leak(first)).toEqual([undefined, false]);
    expect(await leak(second)).toEqual([true, true]);
    expect(await card(second)).toEqual([
      ...[true, 0, 120, expect.stringMatching(/^Fitted on this dataset: no confidence is high enough/)],
    ]);
    const request = { run_id: second, split: "calibration" };
    await presage.call("POST", "/v1/worlds/fitted/calibrations", request);
    expect(await card(await run())).toEqual([
      false,
      60,
      60,
      expect.stringMatching(/^No confidence is high enough/),
    ]);
    const more = lines.map((line) => ({ ...line, trajectory_id: `more-${line.trajectory_id}` }));
    await datasets.uploadNew(dataset, more, { query: "?append=true" });
    expect((await card(await run())).slice(0, 3)).toEqual([false, 120, 120]);
  });

  test("a world that answers without its deleted examples has no confidence", async () => {
    const short = await datasets.create();
    await datasets.uploadNew(short, lines.slice(0, 12));
    const examples = { dataset: short, required: false };
    const confidence = { methods: ["retrieval"] };
    await worlds.create("bereft", { examples, model: { kind: "retrieval" }, confidence });
    const { id } = await runs.create({ dataset_id: dataset, target: { world: "bereft" } });
    await runs.end(id);
    await presage.call("POST", "/v1/worlds/bereft/calibrations", { run_id: id });
    expect((await predict("bereft")).confidence).toBeGreaterThan(0);
    expect((await presage.call("DELETE", `/v1/datasets/${short}`)).status).toBe(204);
    expect((await predict("bereft")).confidence).toBeNull();
  });

  test("a copy has a calibration that makes confidences, of its own methods", async () => {
    const config = { examples: { dataset }, model: { kind: "retrieval" } };
    const { pinned } = await worlds.create("origin", { ...config, confidence: { methods: ["retrieval"] } });
    const table = { kind: "isotonic", x: [0, 1], y: [0, 1] };
    const calibration = {
      ...{ run_id: crypto.randomUUID(), dataset_id: dataset, revision: 1, split: null },
      ...{ evaluator: "exact-match", methods: ["retrieval"], samples: 50, trajectories: 5, table },
    };
    const copy = async (changes: object, methods = ["retrieval"]) => {
      const body = { name: "copy", ...config, confidence: { methods } };
      const response = await presage.call("POST", "/v1/worlds", {
        ...{ ...body, pinned: { ...pinned, calibration: { ...calibration, ...changes } } },
      });
      return `${response.status} ${await response.text()}`;
    };
    const several = ["agreement", "stated"];
    for (const [changes, why] of [
      [{ table: { ...table, y: [5, -7] } }, /^422 .*"y",0/],
      [{ table: { ...table, x: [1, 0] } }, /^422 .*Input should rise.*"table","x"/],
      [{ table: { ...table, x: [0.5] } }, /^422 .*as many in x as in y/],
      [
        { methods: several, table: { kind: "logistic", weights: [], bias: 1 } },
        /^422 .*as many weights as methods/,
      ],
      [{ methods: ["stated"] }, /^422 .*"pinned","calibration".*other methods/],
      [{}, /^201 /],
    ] as const)
      expect(await copy(changes)).toMatch(why);
    const unguarded = await presage.call("POST", "/v1/worlds", {
      ...{ name: "astray", confidence: { methods: ["retrieval"], calibration: { dataset: "nothing" } } },
    });
    expect([unguarded.status, await unguarded.text()]).toEqual([
      422,
      expect.stringContaining("no dataset of this"),
    ]);
  });

  test("records that may show no example are not sure of their answer", async () => {
    await worlds.create("mute", {
      ...{ examples: { dataset }, model: { kind: "retrieval" }, retrieval: { k: 0 } },
      confidence: { methods: ["retrieval"] },
    });
    const { response, explain } = await predict("mute", 1);
    expect([response.content, explain?.score]).toEqual(["Shelf 1.", 0]);
  });

  test("what cannot be calibrated on is refused with the reason", async () => {
    const confidence = { methods: ["retrieval"] };
    const model = { kind: "retrieval" };
    await worlds.create("one", { examples: { dataset }, model, confidence });
    await worlds.create("bare", { examples: { dataset }, model });
    const { id } = await runs.create({ dataset_id: dataset, target: { world: "one" } });
    await runs.end(id);
    const said = async (world: string, body: object) => {
      const response = await presage.call("POST", `/v1/worlds/${world}/calibrations`, body);
      return `${response.status} ${await response.text()}`;
    };
    expect(await said("one", { run_id: id, split: "none" })).toMatch(
      /^422 .*0 judged predictions.*50 are needed/,
    );
    expect(await said("one", { run_id: id, split: "test" })).toMatch(
      /^422 .*"body","split".*samples that test it/,
    );
    expect(await said("one", { run_id: id, evaluator: "x" })).toMatch(/^422 .*"body","evaluator"/);
    expect(await said("bare", { run_id: id })).toMatch(/^422 .*name its methods first/);
    await worlds.create("other", { examples: { dataset }, model, confidence });
    expect(await said("other", { run_id: id })).toMatch(/^422 .*not a run through the world other/);
    expect(await said("one", { run_id: crypto.randomUUID() })).toStartWith("404 ");
    for (const [name, calibration, why] of [
      ["of-split", { dataset, split: "none" }, /^422 .*0 judged predictions/],
      ["of-revision", { dataset, revision: 9 }, /^422 .*"run_id".*is to be calibrated on revision 9 of /],
    ] as const) {
      await worlds.create(name, { examples: { dataset }, model, confidence: { ...confidence, calibration } });
      const run = await runs.create({ dataset_id: dataset, target: { world: name } });
      await runs.end(run.id);
      expect(await said(name, { run_id: run.id })).toMatch(why);
      if (name === "of-split")
        expect(await said(name, { run_id: run.id, split: "calibration" })).toMatch(
          /^422 .*"body","split".*on its split none/,
        );
    }
    await using opened = await openStore(presage.databaseUrl);
    const escalated = sql<string>`replace(request, '"world":{', '"world":{"escalated":true,')`;
    const ofRun = opened.database.selectFrom("predictions").select("id").where("run_id", "=", id);
    await opened.database
      .updateTable("prediction_payloads")
      .set({ request: escalated })
      .where("prediction_id", "in", ofRun)
      .execute();
    expect(await said("one", { run_id: id })).toMatch(/^422 .*It has 0 judged predictions/);
  });
});
