import { afterAll, beforeAll, expect } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Presage } from "@presage/sdk";
import { eventually } from "../../../server/test/support/eventually.ts";
import {
  completion,
  startUpstream,
  type TestUpstream,
} from "../../../server/test/support/upstream/upstream.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { finishRun, uploadHousehold } from "../support/household.ts";
import { tenQuestions } from "../support/ten-questions.ts";

let directory: string;
let upstream: TestUpstream;
beforeAll(async () => {
  upstream = startUpstream(({ body }) => {
    const thing = /open (oven|drawer|lamp|gate)/.exec(body.messages.at(-1)?.content ?? "")?.[1];
    const isRight = thing !== undefined && body.temperature === 0;
    return Response.json(completion(isRight ? `You open the ${thing}.` : "Nothing happens."));
  });
  directory = await mkdtemp(join(tmpdir(), "presage-questions-"));
  const prices = "currency: EUR\nmodels:\n  test-model: { prompt: 1000, completion: 2000 }\n";
  await writeFile(join(directory, "prices.yaml"), prices);
});
afterAll(async () => {
  await upstream.stop();
  await rm(directory, { recursive: true });
});

const { browserTest } = dashboardTests(() => ({
  environment: {
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_UPSTREAM_MODEL: "test-model",
    PRESAGE_PRICES: join(directory, "prices.yaml"),
  },
}));
const dataset = "kitchen";
let filled: Promise<void> | undefined;

/** Creates two runs with the same name and a goal, a prediction, a disputed verdict and a reality check. */
async function fill(client: Presage): Promise<void> {
  const { id } = await uploadHousehold(client, dataset, "fridge oven drawer box lamp gate".split(" "));
  const of = { dataset_id: id, name: "our model", target: { deployment: "default" } };
  await client.goals.set(of.name, { evaluator: "exact-match", pass_rate: 0.4 });
  await finishRun(client, of);
  await finishRun(client, { ...of, params: { temperature: 0 } });
  await client.predict({ interaction: { state: "The door is closed.", action: "open door" } });
  await client.evaluate({
    evaluators: [{ evaluator: "exact-match" }, { evaluator: "rouge-l" }],
    evaluation_run_id: "disputed",
    dataset_sample_id: 1,
    evaluated_model_input: "You push.",
    evaluated_model_output: "The door opens slowly and quietly.",
    evaluated_model_gold_answer: "The door opens slowly and quietly now.",
  });
  const outcomes = Array.from({ length: 20 }, (_, task) => ({
    ...{ task_id: `t${task}`, simulated: true, real: task % 4 > 0 },
  }));
  await client.realityChecks.create({ name: "lab", environment: "sandbox", pairs: outcomes });
  await eventually(
    () => client.runs.headlines(),
    (rows) => rows.some(({ change }) => change !== null),
  );
  await eventually(
    () => client.usage.list(),
    ({ data }) => data.length > 0,
  );
}

const counted = (clicks: number) => (clicks === 1 ? "1 click" : `${clicks} clicks`);

for (const { question, clicks, answer } of tenQuestions(dataset)) {
  browserTest(`${question} takes ${counted(clicks.length)} from the overview`, async (visitor) => {
    filled ??= fill(visitor.client);
    await filled;
    expect(clicks.length).toBeLessThanOrEqual(2);
    const page = await visitor.visit("/", { viewport: { width: 1440, height: 900 } });
    const downloads: string[] = [];
    page.on("download", (file) => downloads.push(file.suggestedFilename()));
    for (const click of clicks) await click(page).click();
    await answer(page).waitFor();
    if (question === "Can I show this to my boss?")
      await eventually(
        async () => downloads,
        ([name]) => name?.endsWith(".html") === true,
      );
  });
}
