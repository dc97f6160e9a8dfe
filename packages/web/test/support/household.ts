import type { Presage, Run, RunCreateRequest } from "@presage/sdk";

/** Uploads recorded trajectories of two steps each; the second step changes nothing. */
export async function uploadHousehold(presage: Presage, name: string, things = ["fridge", "oven", "drawer"]) {
  const dataset = await presage.datasets.create({ name });
  const lines = things.flatMap((thing) => [
    { step: 0, state: `You see a closed ${thing}.`, action: `open ${thing}`, next: `You open the ${thing}.` },
    { step: 1, state: `You see an open ${thing}.`, action: "wait", next: `You see an open ${thing}.` },
  ]);
  const text = lines.map(({ step, state, action, next }, index) =>
    JSON.stringify({
      trajectory_id: things[Math.floor(index / 2)],
      step,
      interaction: { state, action },
      next_state: next,
    }),
  );
  await presage.datasets.upload(dataset.id, `${text.join("\n")}\n`);
  return dataset;
}

/** Creates a run and waits until it has ended. */
export async function finishRun(
  presage: Presage,
  request: Omit<RunCreateRequest, "evaluators"> & Partial<Pick<RunCreateRequest, "evaluators">>,
): Promise<Run> {
  const run = await presage.runs.create({ evaluators: [{ evaluator: "exact-match" }], ...request });
  return await presage.runs.waitUntilEnded(run.id, { pollEveryMs: 50 });
}
