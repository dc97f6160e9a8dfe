import { expect, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { completion, startUpstream } from "../support/upstream/upstream.ts";

const samples = Array.from({ length: 60 }, (_, step) => ({
  trajectory_id: "t",
  step,
  interaction: { state: `state ${step}`, action: "go on" },
  next_state: "next",
}));
const upstream = startUpstream();
const presage = usePresage({ PRESAGE_UPSTREAM_URL: upstream.url });
const datasets = datasetClient(presage);
const { create, end, read } = runClient(presage);

async function startRun(more: Record<string, unknown> = {}) {
  upstream.received.length = 0;
  const dataset_id = await datasets.create();
  await datasets.uploadNew(dataset_id, samples);
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
  await Bun.sleep(1_000);
  const asked = upstream.received.length;
  await Bun.sleep(2_500);
  expect(upstream.received.length).toBe(asked);
  upstream.answer = () => Response.json(completion("next"));
  await presage.call("POST", `/v1/runs/${id}/resume`);
  expect(await end(id)).toMatchObject({ status: "finished", progress: all });
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
  await Bun.sleep(2_000);
  // One at a time is tried, with its retries.
  expect(upstream.received.length - asked).toBeLessThan(20);
  upstream.answer = () => Response.json(completion("next"));
  expect(await end(id)).toMatchObject({
    status: "finished",
    status_reason: null,
    progress: all,
    notes: [expect.stringMatching(/^Waited \d+ s for the deployment to respond\.$/)],
  });
});

test("a run that is taken again while its upstream is away continues by itself, too", async () => {
  upstream.answer = () => Response.json({ error: { message: "Loading the model." } }, { status: 503 });
  const { id } = await startRun();
  await eventually(
    () => read(id),
    ({ status }) => status === "paused",
    30_000,
  );
  upstream.answer = () => Response.json(completion("next"));
  // Whoever works on a run loses it when it is given another evaluator.
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
