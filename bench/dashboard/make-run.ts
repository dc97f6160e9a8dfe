import type { RunningPresage } from "../evaluations/start-presage.ts";
import { call, createDataset, createRun, finishRun } from "../runs/call-presage.ts";
import { predictionLine, sampleLine, streamLines } from "../runs/stream-samples.ts";

const bytesOfSample = 300;

/** A finished run of predictions made elsewhere, judged by two evaluators. Returns its id. */
export const makeRun = async (presage: RunningPresage, samples: number): Promise<string> => {
  const startedAtMs = performance.now();
  const dataset_id = await createDataset(presage, "of the dashboard");
  const lines = streamLines(samples, (index) => sampleLine(index, bytesOfSample));
  await call(presage, "POST", `/v1/datasets/${dataset_id}/revisions`, lines);
  const { id } = await createRun(presage, {
    name: "of the dashboard",
    dataset_id,
    target: { predictions: "imported" },
    evaluators: [{ evaluator: "exact-match" }, { evaluator: "state-change" }],
  });
  await call(presage, "POST", `/v1/runs/${id}/predictions`, streamLines(samples, predictionLine));
  await finishRun(presage, id);
  const tookS = (performance.now() - startedAtMs) / 1000;
  process.stdout.write(`dashboard  a run of ${samples} samples in ${tookS.toFixed(1)} s\n`);
  return id;
};
