import { expect } from "bun:test";
import { dashboardTests } from "../support/dashboard-tests.ts";

const { dashboardTest } = dashboardTests();
const trajectories = Array.from({ length: 8 }, (_, index) => `kitchen-${index}`);

dashboardTest("A run's page says first whether it ends where the real one ends", async (visitor) => {
  const { visit, client } = visitor;
  const steps = trajectories.flatMap((trajectory_id) => [0, 1].map((step) => ({ trajectory_id, step })));
  const samples = steps.map(({ trajectory_id, step }) => ({
    ...{ trajectory_id, step, done: step === 1, reward: step },
    interaction: { state: "The oven is on.", action: step === 0 ? "wait" : "open oven" },
    next_state: step === 0 ? "Nothing happens." : "The cake is done.",
  }));
  const { id } = await client.datasets.create({ name: "cakes" });
  await client.datasets.upload(id, samples.map((sample) => `${JSON.stringify(sample)}\n`).join(""));
  const run = await client.runs.create({
    dataset_id: id,
    target: { predictions: "imported" },
    evaluators: [{ evaluator: "exact-match" }],
    ends: { stop: [{ output_contains: "done", outcome: "success" }] },
  });
  const lines = steps.map(({ trajectory_id, step }) => {
    const isDone = step === 1 && trajectory_id !== "kitchen-3";
    return JSON.stringify({ trajectory_id, step, prediction: isDone ? "The cake is done." : "It burns." });
  });
  await client.runs.uploadPredictions(run.id, `${lines.join("\n")}\n`);
  await client.runs.waitUntilEnded(run.id, { pollEveryMs: 50 });

  const page = await visit(`/runs/${run.id}`);
  await page
    .getByText(
      /^Ends where the real one ends: 93\.8 % \(.* It misses the end in 1 of 8 predictions at real ends/,
    )
    .waitFor();
  const counts = page.getByRole("region", { name: "Predictions by both ends" });
  const goesOn = counts.getByRole("row").filter({ hasText: "Predicted to go on" });
  expect(await goesOn.textContent()).toBe("Predicted to go on18");
  await page.getByRole("figure", { name: "Ends", exact: true }).getByText("93.8 %").waitFor();
  await page.getByRole("slider", { name: "Ends alike by step, by step" }).waitFor();
});
