import { expect, test } from "bun:test";
import { Dataset, RunReport } from "@presage/contract";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

const cup = { name: "cup", uuid: 1, properties: { isOpen: false, heat: [1, 2] }, contains: ["tea", "milk"] };
const lamp = { name: "lamp", uuid: 2, properties: {}, contains: [] };
const objects = [cup, lamp];
const before = { objects, look: "around", max_UUID: 2, lastAction: "" };
const score = { score: 0, gameOver: false, gameWon: false };

/** The state after the action and the tick, and how many changes LLM-Sim's `get_state_diff` finds. */
const ticks: [after: object, score: object, changes: number][] = [
  [{ look: "elsewhere", max_UUID: 3, observation: "A cup.", inventory: "" }, score, 0],
  [{ objects: [lamp, { ...cup, contains: ["milk", "tea"] }] }, score, 0],
  [{ objects: [{ ...cup, properties: { ...cup.properties, isNew: true } }, lamp] }, score, 0],
  [{ objects: [{ ...cup, properties: { isOpen: true, heat: [2, 1] } }, lamp] }, score, 2],
  [{ objects: [{ ...cup, contains: ["tea"] }, lamp] }, score, 1],
  [{ objects: [cup] }, score, 1],
  [{ objects: [...objects, { ...lamp, uuid: 3 }] }, score, 1],
  [{}, { ...score, score: 1 }, 1],
];
const transitions = ticks.map(([after, next_score_state], state_id) => ({
  ...{ game: "tea", state_id, current_state: before, action_state: before },
  tick_state: { ...before, ...after, lastAction: "wait" },
  ...{ current_score_state: score, next_score_state },
}));

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const datasets = datasetClient(presage);
  const { create, end, samples } = runClient(presage);

  async function newDataset(lines: unknown[], change?: Dataset["change"]): Promise<string> {
    const response = await presage.call("POST", "/v1/datasets", { name: crypto.randomUUID(), change });
    const dataset = Dataset.parse(await response.json());
    expect(dataset.change).toEqual(change ?? null);
    await datasets.uploadNew(dataset.id, lines);
    return dataset.id;
  }

  async function changesOf(dataset_id: string, evaluator: object = { evaluator: "state-change" }) {
    const target = { baseline: "no-change" };
    const { id } = await create({ dataset_id, target, evaluators: [evaluator] });
    const run = await end(id);
    return { run, changes: (await samples(id)).map(({ changes }) => changes) };
  }

  test("LLM-Sim's samples have the score in their states, and changed are those that its authors count", async () => {
    const dataset_id = await newDataset(transitions);
    const evaluator = { evaluator: "json-match", profile_name: "system:llm-sim" };
    const { run, changes } = await changesOf(dataset_id, evaluator);
    expect(changes).toEqual(ticks.map(([, , count]) => count));
    expect(run.provenance).not.toHaveProperty("change");
    const report = RunReport.parse(await (await presage.call("GET", `/v1/runs/${run.id}/report`)).json());
    // For the evaluator, as in its script, a new property is part of the gold answer, and a superfluous object costs nothing.
    expect(report.evaluators[0]?.strata.changed).toMatchObject([
      { key: "unchanged", count: 3, pass_rate: 2 / 3 },
      { key: "changed", count: 5, pass_rate: 1 / 5 },
    ]);
    const { data } = (await datasets.read(`${dataset_id}/samples`)).body;
    expect(JSON.parse(data[7].interaction.state).score_state).toEqual(score);
    expect(JSON.parse(data[7].next_state).score_state).toEqual({ ...score, score: 1 });
  });

  test("a dataset says what counts, and runs copy it; a sample's own tag says more", async () => {
    const change = { paths: ["$.objects", "$.score_state"] };
    const { run, changes } = await changesOf(await newDataset(transitions, change));
    expect(changes).toEqual(ticks.map(([, , count]) => count));
    expect(run.provenance.change).toEqual(change);

    const doors = [
      [{ door: "shut", clock: 1 }, {}],
      [{ door: "open", clock: 1 }, {}],
      [{ door: "open", clock: 1 }, { changed: "false" }],
      [{ door: "shut", clock: 0 }, { changed: "true" }],
    ].map(([next, tags], step) => ({
      ...{ trajectory_id: "t", step, tags, next_state: JSON.stringify(next) },
      interaction: { state: JSON.stringify({ door: "shut", clock: 0 }), action: "wait" },
    }));
    const ignoring = await newDataset(doors, { ignore: ["$.clock"] });
    expect((await changesOf(ignoring)).changes).toEqual([0, 1, 0, 1]);
    expect((await changesOf(await newDataset(doors))).changes).toEqual([1, 2, 0, 1]);
    const refused = await presage.call("POST", "/v1/datasets", { name: "x", change: { paths: ["doors"] } });
    expect([refused.status, await refused.json()]).toMatchObject([
      422,
      { detail: [{ loc: ["body", "change", "paths", 0] }] },
    ]);
  });
});
