import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DeploymentListResponse } from "@presage/contract";
import { eventually } from "../support/eventually.ts";
import { startPresage } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { openStore } from "../support/store/open-store.ts";
import { oneAtATime } from "../support/upstream/one-at-a-time.ts";
import { completion, startUpstream } from "../support/upstream/upstream.ts";
import { slowTest } from "../support/whole-run.ts";

const samples = Array.from({ length: 60 }, (_, step) => ({
  trajectory_id: "t",
  step,
  interaction: { state: `state ${step}`, action: "go on" },
  next_state: "next",
}));
const upstream = startUpstream();
const presage = usePresage({ PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_UPSTREAM_TIMEOUT_MS: "2000" });
const datasets = datasetClient(presage);
const { create, end, read } = runClient(presage);

async function startRun(more: Record<string, unknown> = {}, next_state = "next") {
  upstream.received.length = 0;
  const dataset_id = await datasets.create();
  await datasets.uploadNew(
    dataset_id,
    samples.map((sample) => ({ ...sample, next_state })),
  );
  return await create({ dataset_id, target: { deployment: "default" }, concurrency: 16, ...more });
}

const all = { samples: 60, predicted: 60, evaluated: 60, failed: 0 };

test("a limit of the upstream's rate slows a run down, fails no sample, and is said", async () => {
  let tokens = 15;
  const refill = setInterval(() => {
    tokens = 15;
  }, 1_000);
  upstream.answer = () => {
    tokens -= 1;
    if (tokens >= 0) return Response.json(completion("next"));
    return Response.json(
      { error: { message: "Slow down." } },
      { status: 429, headers: { "retry-after": "1" } },
    );
  };
  const { id } = await startRun();
  expect(await end(id)).toMatchObject({
    status: "finished",
    progress: all,
    notes: [expect.stringMatching(/^Waited \d+ s for rate limits of the deployment\.$/)],
  });
  clearInterval(refill);
});

test("a run that is paused while it waits for a limit asks for nothing more", async () => {
  upstream.answer = () =>
    Response.json({ error: { message: "Slow down." } }, { status: 429, headers: { "retry-after": "1" } });
  const { id } = await startRun();
  await eventually(
    () => upstream.received.length,
    (count) => count > 0,
  );
  await presage.call("POST", `/v1/runs/${id}/pause`);
  await Bun.sleep(300);
  const asked = upstream.received.length;
  await Bun.sleep(1_300);
  expect(upstream.received.length).toBe(asked);
  const limited = upstream.answer;
  upstream.answer = (...request) => {
    upstream.answer = () => Response.json(completion("next"));
    return limited(...request);
  };
  await presage.call("POST", `/v1/runs/${id}/resume`);
  expect(await end(id)).toMatchObject({
    ...{ status: "finished", progress: all },
    notes: [expect.stringMatching(/^Waited [2-9] s for rate limits of the deployment\.$/)],
  });
});

test("an upstream that fails every third call fails no sample", async () => {
  let call = 0;
  upstream.answer = () => {
    call += 1;
    return call % 3 === 0
      ? Response.json({ error: { message: "CUDA out of memory." } }, { status: 500 })
      : Response.json(completion("next"));
  };
  const { id } = await startRun();
  expect(await end(id)).toMatchObject({ status: "finished", progress: all });
});

test("a sample that the upstream refuses fails at once, and the others do not", async () => {
  upstream.answer = ({ text }) =>
    text.includes("state 7\\n")
      ? Response.json({ error: { message: "Bad input." } }, { status: 400 })
      : Response.json(completion("next"));
  const { id } = await startRun();
  expect(await end(id)).toMatchObject({
    status: "finished",
    progress: { samples: 60, predicted: 59, evaluated: 60, failed: 1 },
  });
  expect(upstream.received.length).toBe(60);
  const failed = await presage.call("GET", `/v1/predictions?run_id=${id}&deployment=default&status=failed`);
  expect(await failed.json()).toMatchObject({ data: [{ error_category: "upstream", model: null }] });
});

test("failed predictions and verdicts without an outcome are two counts", async () => {
  upstream.answer = ({ text }) =>
    text.includes("state 7\\n")
      ? Response.json({ error: { message: "Bad input." } }, { status: 400 })
      : Response.json(completion("next"));
  const { id } = await startRun({ evaluators: [{ evaluator: "json-match" }] });
  const { progress } = await end(id);
  expect(progress).toMatchObject({ failed: 60, failed_predictions: 1, without_verdict: 59 });
});

test("the figure of no change has the samples whose first repeat failed", async () => {
  upstream.answer = ({ text }) =>
    text.includes('"seed":5')
      ? Response.json({ error: { message: "Bad input." } }, { status: 400 })
      : Response.json(completion("next"));
  const { id } = await startRun({
    params: { seed: 5 },
    repeats: 2,
    evaluators: [{ evaluator: "exact-match" }],
  });
  await end(id);
  const report = await presage.call("GET", `/v1/runs/${id}/report`);
  expect(await report.json()).toMatchObject({
    evaluators: [{ count: 60, failed: 60, no_change: { count: 60, mean: 0 } }],
  });
});

test("an upstream that fails three of five calls finishes the run, which says how many were tried again", async () => {
  let failed = 0;
  const tries = new Map<string, number>();
  upstream.answer = ({ text }) => {
    const count = (tries.get(text) ?? 0) + 1;
    tries.set(text, count);
    if (count > 1 + (tries.size % 2)) return Response.json(completion("next"));
    failed += 1;
    return Response.json({ error: { message: "CUDA out of memory." } }, { status: 500 });
  };
  // Each sample fails at most twice, so never 20 calls in a row, which would pause the run.
  const { id } = await startRun({ concurrency: 8 });
  const run = await end(id);
  expect(run).toMatchObject({
    status: "finished",
    progress: { ...all, failed_predictions: 0, tries: { retried: { upstream: failed }, timed_out: 0 } },
  });
  expect(failed).toBeGreaterThan(60);
  const report = await presage.call("GET", `/v1/runs/${id}/report?format=md`);
  expect(await report.text()).toContain(`${failed} calls tried again (upstream ${failed})`);
  const { data } = DeploymentListResponse.parse(await (await presage.call("GET", "/v1/deployments")).json());
  expect(data).toMatchObject([{ state: "degraded", replicas: [{ state: "up" }] }]);
  expect(data[0]?.error_rate).toBeGreaterThan(0.05);
});

test("a deployment whose calls all fail is out, also where its answers are 200, 401 or 402", async () => {
  const answers = [
    () => Response.json({ error: { message: "Insufficient credits." } }, { status: 402 }),
    () => Response.json({ error: { message: "Bad credential." } }, { status: 401 }),
    () => Response.json({ error: { message: "Model is loading.", code: 500 } }),
    () => new Response("<html>", { status: 200 }),
  ];
  for (const answer of answers) {
    const alone = startUpstream(answer);
    const server = await startPresage({ PRESAGE_UPSTREAM_URL: alone.url, PRESAGE_UPSTREAM_MODEL: "m" });
    for (let step = 0; step < 3; step += 1)
      await server.call("POST", "/v1/predict", { interaction: { state: "s", action: "a" } });
    const { data } = DeploymentListResponse.parse(await (await server.call("GET", "/v1/deployments")).json());
    expect(data).toMatchObject([
      { state: "out", error_rate: 1, replicas: [{ recent: { calls: 3, failed: 3 } }] },
    ]);
    await Promise.all([server.stop(), alone.stop()]);
  }
});

slowTest("time-outs are counted, shrink the run's pace, and fail no sample", async () => {
  let [inFlight, most, call] = [0, 0, 0];
  upstream.answer = async () => {
    inFlight += 1;
    call += 1;
    most = Math.max(most, inFlight);
    // With more than 8 calls in flight, the upstream stalls.
    await Bun.sleep(inFlight > 8 ? 3_000 : 20);
    inFlight -= 1;
    return Response.json(completion("next"));
  };
  const { id } = await startRun({ target: { deployment: "default" } });
  const run = await end(id);
  expect(run).toMatchObject({ status: "finished", progress: { ...all, failed_predictions: 0 } });
  const { retried, timed_out } = run.progress.tries ?? { retried: {}, timed_out: 0 };
  expect(timed_out).toBeGreaterThan(0);
  expect(retried).toEqual({ timeout: timed_out });
  // After 20 failures in a row, the deployment is asked a request that it has answered before.
  expect(call).toBeWithin(60 + timed_out, 60 + timed_out + 5);
  expect(timed_out).toBeLessThan(60);
});

slowTest(
  "a run on replicas of which one answers one call at a time uses both, and says how many calls they bear",
  async () => {
    const replicas = [startUpstream(oneAtATime(600)), startUpstream(oneAtATime(300))];
    const server = await startPresage({
      PRESAGE_UPSTREAM_URL: replicas.map(({ url }) => url).join(","),
      PRESAGE_UPSTREAM_MODEL: "m",
      PRESAGE_UPSTREAM_TIMEOUT_MS: "1000",
    });
    const runs = runClient(server);
    const dataset_id = await datasetClient(server).create();
    const apart = samples
      .slice(0, 40)
      .map((sample, place) => ({ ...sample, trajectory_id: `t${place >> 2}` }));
    await datasetClient(server).uploadNew(dataset_id, apart);
    const { id } = await runs.create({ dataset_id, target: { deployment: "default" }, concurrency: 16 });
    const bearable = await eventually(
      async () => (await runs.read(id)).progress.tries?.at_once,
      (count) => count !== undefined,
    );
    expect(bearable).toBeWithin(1, 16);
    expect(await runs.end(id, 100_000)).toMatchObject({
      status: "finished",
      progress: { samples: 40, predicted: 40, failed: 0 },
    });
    for (const { received } of replicas) expect(received.length).toBeGreaterThan(5);
    await server.stop();
    await Promise.all(replicas.map((replica) => replica.stop()));
  },
);

test("a server that stops keeps the count of the latest failed tries", async () => {
  const directory = await mkdtemp(join(tmpdir(), "presage-tries-"));
  const databaseUrl = `sqlite:${join(directory, "presage.db")}`;
  const failing = startUpstream(() => Response.json({ error: { message: "Busy." } }, { status: 500 }));
  const server = await startPresage({
    PRESAGE_DATABASE_URL: databaseUrl,
    PRESAGE_UPSTREAM_URL: failing.url,
    PRESAGE_UPSTREAM_MODEL: "m",
  });
  const dataset_id = await datasetClient(server).create();
  await datasetClient(server).uploadNew(dataset_id, samples);
  const run = { dataset_id, target: { deployment: "default" }, concurrency: 1 };
  await runClient(server).create(run);
  await eventually(
    () => failing.received.length,
    (count) => count > 0,
  );
  await Bun.sleep(100);
  await Promise.all([server.stop(), failing.stop()]);
  await using store = await openStore(databaseUrl);
  const { tries } = await store.database.selectFrom("runs").select("tries").executeTakeFirstOrThrow();
  expect(JSON.parse(tries ?? "null").retried.upstream).toBeGreaterThan(0);
  await rm(directory, { recursive: true });
});

test("answers that are cut, empty or repaired are counted, and a report begins with those that are cut", async () => {
  const profile = { evaluator_family: "json-match", name: "mending", config: { repair: true } };
  expect((await presage.call("POST", "/v1/evaluator-profiles", profile)).status).toBe(201);
  let call = 0;
  upstream.answer = () => {
    call += 1;
    const [content, finish_reason] =
      call <= 30 ? ['{"a": 1', "length"] : call <= 33 ? [" \n", "stop"] : ["{}", "stop"];
    const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason }];
    return Response.json(completion("", { choices }));
  };
  const evaluators = [{ evaluator: "json-match", profile_name: "mending" }, { evaluator: "exact-match" }];
  const { id } = await startRun({ params: { max_tokens: 60 }, evaluators }, '{"a": 1}');
  expect((await end(id)).progress.answers).toEqual({ truncated: 30, empty: 3, repaired: 30 });
  const report = async (format: string) =>
    await (await presage.call("GET", `/v1/runs/${id}/report?format=${format}`)).text();
  const first = "50 % of the answers were cut at 60 tokens (30 of 60)";
  expect(JSON.parse(await report("json")).provenance.warnings).toEqual([
    expect.stringContaining(first),
    "5 % of the answers are empty (3 of 60).",
  ]);
  const page = await report("md");
  expect(page.indexOf(first)).toBeWithin(0, page.indexOf("Pass rates"));
});

test("an upstream that is away pauses a run with the reason, and it continues by itself", async () => {
  upstream.answer = () => Response.json({ error: { message: "Loading the model." } }, { status: 503 });
  const { id } = await startRun();
  const away = await eventually(
    () => read(id),
    ({ status }) => status === "paused",
    30_000,
  );
  expect(away).toMatchObject({
    status: "paused",
    status_reason: expect.stringContaining("20 times in a row"),
  });
  const asked = upstream.received.length;
  await Bun.sleep(800);
  // The run tries one sample at a time, with its retries.
  expect(upstream.received.length - asked).toBeLessThan(20);
  upstream.answer = () => Response.json(completion("next"));
  expect(await end(id)).toMatchObject({
    status: "finished",
    status_reason: null,
    progress: all,
    notes: [expect.stringMatching(/^Waited \d+ s for the deployment to respond\.$/)],
  });
});

test("a run that is taken again while its upstream's credit is spent continues by itself, too", async () => {
  upstream.answer = () => Response.json({ error: { message: "Insufficient credits." } }, { status: 402 });
  const { id } = await startRun();
  await eventually(
    () => read(id),
    ({ status }) => status === "paused",
    30_000,
  );
  upstream.answer = () => Response.json(completion("next"));
  // A process that works on a run loses it when the run gets another evaluator.
  const evaluators = [{ evaluator: "state-change" }];
  expect((await presage.call("POST", `/v1/runs/${id}/evaluators`, { evaluators })).status).toBe(200);
  expect(await end(id, 30_000)).toMatchObject({ status: "finished", status_reason: null, progress: all });
});

test("twenty samples that are too long for the model do not mean that it is away", async () => {
  upstream.answer = () =>
    Response.json({ error: { message: "maximum context length exceeded" } }, { status: 400 });
  const { id } = await startRun({ concurrency: 1 });
  const run = await end(id, 30_000);
  expect(run).toMatchObject({ progress: { predicted: 0, failed: 60 }, notes: [] });
});

test("a run can be cancelled while its upstream is away", async () => {
  await upstream.stop();
  const { id } = await startRun();
  await eventually(
    () => read(id),
    ({ status }) => status === "paused",
    30_000,
  );
  const response = await presage.call("POST", `/v1/runs/${id}/cancel`);
  expect(await response.json()).toMatchObject({ status: "cancelled", finished_at: expect.any(String) });
});
