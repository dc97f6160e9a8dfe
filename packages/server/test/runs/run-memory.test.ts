import { expect, test } from "bun:test";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { completion, startUpstream } from "../support/upstream/upstream.ts";

const upstream = startUpstream();
const presage = usePresage({
  PRESAGE_UPSTREAM_URL: upstream.url,
  PRESAGE_MEMORY_BUDGET_BYTES: "2097152",
});
const datasets = datasetClient(presage);
const { create, end, read } = runClient(presage);

/** Slow enough that several responses are read at the same time. */
async function* inTwoParts(text: string): AsyncGenerator<string, void> {
  const half = Math.floor(text.length / 2);
  yield text.slice(0, half);
  await Bun.sleep(100);
  yield text.slice(half);
}

test("a run whose responses do not fit in memory together asks for fewer at once, and says so", async () => {
  upstream.answer = () => new Response(inTwoParts(JSON.stringify(completion("long ".repeat(60_000)))));
  const dataset_id = await datasets.create();
  const samples = Array.from({ length: 15 }, (_, step) => ({
    trajectory_id: "t",
    step,
    interaction: { state: `state ${step}`, action: "go on" },
    next_state: "next",
  }));
  await datasets.uploadNew(dataset_id, samples);
  const { id } = await create({ dataset_id, target: { deployment: "default" }, concurrency: 32 });
  const reasons = new Set<unknown>();
  const watching = setInterval(() => void read(id).then((run) => reasons.add(run.status_reason)), 200);
  const run = await end(id, 60_000).finally(() => clearInterval(watching));
  expect(run).toMatchObject({
    status: "finished",
    progress: { samples: 15, predicted: 15, evaluated: 15, failed: 0 },
    notes: [
      expect.stringMatching(/^Waited \d+ s for memory for responses \(PRESAGE_MEMORY_BUDGET_BYTES\)\.$/),
    ],
  });
  expect([...reasons]).toEqual([null]);
});

test("few steps with long texts are in progress at once, whatever the run's concurrency", async () => {
  let inFlight = 0;
  let most = 0;
  upstream.answer = async () => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    await Bun.sleep(50);
    inFlight -= 1;
    return Response.json(completion("next"));
  };
  const dataset_id = await datasets.create();
  const samples = Array.from({ length: 40 }, (_, step) => ({
    trajectory_id: "t",
    step,
    interaction: { state: `state ${step} ${"x".repeat(10_000)}`, action: "go on" },
    next_state: "next",
  }));
  await datasets.uploadNew(dataset_id, samples);
  const { id } = await create({ dataset_id, target: { deployment: "default" }, concurrency: 32 });
  expect(await end(id, 60_000)).toMatchObject({ status: "finished", progress: { predicted: 40, failed: 0 } });
  // As many steps of 100 kB as fit into an eighth of 2 MiB.
  expect(most).toBe(2);
});
