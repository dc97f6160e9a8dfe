import { expect, test } from "bun:test";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { completion, startUpstream } from "../support/upstream/upstream.ts";

const upstream = startUpstream();
const presage = usePresage({ PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_RUNS_MAX_IN_FLIGHT: "1" });
const datasets = datasetClient(presage);
const { create, end, samples: list } = runClient(presage);

test("a prediction's latency does not contain what it waited for its turn", async () => {
  upstream.answer = async () => {
    await Bun.sleep(200);
    return Response.json(completion("next"));
  };
  const samples = Array.from({ length: 16 }, (_, step) => ({
    trajectory_id: "t",
    step,
    interaction: { state: `state ${step}`, action: "go on" },
    next_state: "next",
  }));
  const dataset_id = await datasets.create();
  await datasets.uploadNew(dataset_id, samples);
  const { id } = await create({ dataset_id, target: { deployment: "default" }, concurrency: 16 });
  await end(id);
  const latencies = (await list(id)).map(({ prediction }) => prediction.latency_ms ?? 0);
  // The last one waited three seconds for 15 others.
  expect(Math.min(...latencies)).toBeGreaterThan(150);
  expect(Math.max(...latencies)).toBeLessThan(2_000);
});
