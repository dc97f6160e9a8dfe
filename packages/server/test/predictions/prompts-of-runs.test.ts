import { expect, test } from "bun:test";
import { type StoredPredictionDetail, StoredPredictionListResponse } from "@presage/contract";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

const context = { environment_state: "## MAP\nA kitchen with a fridge. An apple is in the fridge." };
const steps = ["open fridge", "take apple", "close fridge"].map((action, step) => ({
  trajectory_id: "kitchen",
  step,
  context,
  interaction: { state: `Recorded state ${step}.`, action },
  next_state: `Recorded state ${step + 1}.`,
}));
const talk = {
  messages: [
    { role: "system", content: "You are a kitchen." },
    { role: "user", content: "open fridge" },
    { role: "assistant", content: "The fridge is open." },
    { role: "user", content: "take milk" },
    { role: "assistant", content: "You hold the milk." },
  ],
};

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const datasets = datasetClient(presage);
  const runs = runClient(presage);

  /** The predictions of a run with their texts, by the place of their sample. */
  async function promptsOf(lines: readonly unknown[], run: Record<string, unknown>) {
    const dataset_id = await datasets.create();
    await datasets.uploadNew(dataset_id, lines);
    const { id } = await runs.create({ dataset_id, target: { deployment: "sandbox" }, ...run });
    await runs.end(id);
    const list = await presage.call("GET", `/v1/predictions?run_id=${id}`);
    const { data } = StoredPredictionListResponse.parse(await list.json());
    const details = await Promise.all(
      data.map(
        async ({ id }) =>
          (await (await presage.call("GET", `/v1/predictions/${id}`)).json()) as StoredPredictionDetail,
      ),
    );
    return details.sort((a, b) => (a.position ?? 0) - (b.position ?? 0) || (a.repeat ?? 0) - (b.repeat ?? 0));
  }

  test("a prediction of a run shows the sample that was asked, with the run's parameters", async () => {
    const shown = await promptsOf(steps, { params: { temperature: 0.5, seed: 7 }, repeats: 2 });
    expect(shown).toHaveLength(6);
    expect(shown[3]).toMatchObject({
      position: 2,
      repeat: 1,
      context,
      interaction: steps[1]?.interaction,
      messages: null,
      params: { temperature: 0.5, seed: 8 },
    });
  });

  test("a list has the action, what was expected, the verdicts, who started it and what it cost", async () => {
    const dataset_id = await datasets.create();
    await datasets.uploadNew(dataset_id, steps);
    const { id } = await runs.create({
      dataset_id,
      target: { baseline: "no-change" },
      evaluators: [{ evaluator: "exact-match" }],
    });
    await runs.end(id);
    const list = await presage.call("GET", `/v1/predictions?run_id=${id}&text_limit=14&order=oldest`);
    const { data, currency } = StoredPredictionListResponse.parse(await list.json());
    expect(currency).toBeNull();
    expect(data[1]).toMatchObject({
      action: "take apple",
      expected: "Recorded state",
      output: "Recorded state",
      verdicts: [
        {
          evaluator: "exact-match-2026-11-21",
          profile_name: "system:default",
          status: "success",
          pass: false,
        },
      ],
      made_by: "bootstrap",
      cost: null,
    });
  });

  test("a list has the last message as the action of a conversation, and no tag of that name", async () => {
    const dataset_id = await datasets.create();
    const { messages } = talk;
    const sample = { trajectory_id: "talk", step: 0, messages: messages.slice(0, 2), next_state: "Open." };
    await datasets.uploadNew(dataset_id, [{ ...sample, tags: { action: "wrong", next_state: "wrong" } }]);
    const { id } = await runs.create({ dataset_id, target: { baseline: "no-change" } });
    await runs.end(id);
    const list = await presage.call("GET", `/v1/predictions?run_id=${id}&text_limit=14`);
    const { data } = StoredPredictionListResponse.parse(await list.json());
    expect(data).toMatchObject([{ action: "open fridge", expected: "Open." }]);
  });

  test("a free-running one shows the state that was predicted for the step before", async () => {
    const shown = await promptsOf(steps, { mode: "free-running" });
    expect(shown.map(({ interaction }) => interaction?.state)).toEqual([
      "Recorded state 0.",
      shown[0]?.output ?? "",
      shown[1]?.output ?? "",
    ]);
  });

  test("of a conversation it shows the messages", async () => {
    const shown = await promptsOf([talk], { mode: "free-running" });
    expect(shown[1]?.interaction).toBeNull();
    expect(shown[1]?.messages).toEqual([
      ...talk.messages.slice(0, 2),
      { role: "assistant", content: shown[0]?.output ?? "" },
      { role: "user", content: "take milk" },
    ]);
  });
});
