import { beforeAll, expect, test } from "bun:test";
import { fromBufferPromise } from "yauzl";
import { importText } from "../../src/datasets/traces/import-text.fixture.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient, toLines } from "../support/resources/datasets.ts";
import { evaluatorProfileClient } from "../support/resources/evaluator-profiles.ts";
import { runClient } from "../support/resources/runs.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

const secret = `ghp_${"a1B2".repeat(9)}`;
const step = (dataset_sample_id: string, trajectory_id: string, step: number, asked: object) => ({
  ...{ dataset_sample_id, trajectory_id, step, next_state: `state ${step + 1}` },
  ...asked,
});
const context = { task_context: "Find the key." };
const talk = (...contents: string[]) =>
  contents.map((content, index) => ({ role: index % 2 === 0 ? "user" : "assistant", content }));
const samples = [
  step("a/0", "a", 0, { context, interaction: { state: "state 0", action: "go on" } }),
  step("..\\a/1", "a", 1, { context, interaction: { state: "state 1", action: "stop" } }),
  step("b/0", "b", 0, { messages: talk("open") }),
  step("b/1", "b", 1, { messages: talk("open", "state 1", "close") }),
];

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const datasets = datasetClient(presage);
  const profiles = evaluatorProfileClient(() => presage);
  const { create, end } = runClient(presage);

  /** The entries of a log, in their order. */
  async function entriesOf(log: Uint8Array) {
    const zip = await fromBufferPromise(Buffer.from(log));
    // biome-ignore lint/suspicious/noExplicitAny: each entry has a shape of its own
    const found: [string, any][] = [];
    for await (const entry of zip.eachEntry()) {
      const text = await new Response(await zip.openReadStreamPromise(entry)).text();
      found.push([entry.fileName, JSON.parse(text)]);
    }
    return found;
  }

  async function exported(id: string, query = "") {
    const response = await presage.call("GET", `/v1/runs/${id}/export?format=inspect${query}`);
    expect(response.status).toBe(200);
    return { headers: response.headers, log: await response.bytes() };
  }

  beforeAll(async () => {
    const contains = { evaluator_family: "contains" };
    await profiles.create({ ...contains, name: "states", config: { substrings: ["state"] } });
    await profiles.create({ ...contains, name: "wrong", config: { substrings: ["wrong"] } });
  });

  async function imported() {
    const dataset_id = await datasets.create();
    await datasets.uploadNew(dataset_id, samples);
    const contains = { evaluator: "contains", explain_strategy: "always" };
    const run = await create({
      ...{ dataset_id, target: { predictions: "imported" }, mode: "free-running", repeats: 2 },
      evaluators: [
        { evaluator: "exact-match", explain_strategy: "never" },
        { ...contains, profile_name: "states" },
        { ...contains, profile_name: "wrong" },
      ],
    });
    const lines = samples.flatMap(({ dataset_sample_id, step }, index) => [
      { dataset_sample_id, repeat: 0, prediction: `state ${step + 1}`, reasoning: `as ${secret}` },
      { dataset_sample_id, repeat: 1, prediction: index === 1 ? null : `wrong ${step}` },
    ]);
    const sent = await presage.call("POST", `/v1/runs/${run.id}/predictions`, toLines(lines));
    expect(sent.status).toBe(200);
    return await end(run.id);
  }

  test("a run is a log of Inspect with a sample for each prediction, without secrets", async () => {
    const run = await imported();
    const { headers, log } = await exported(run.id);
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "application/zip",
      "content-disposition": 'attachment; filename="run.eval"',
      "x-presage-count": "7",
    });
    expect(headers.has("content-encoding")).toBe(false);
    const entries = await entriesOf(log);
    expect(JSON.stringify(entries)).not.toContain(secret);
    const odd = "samples/..%5Ca%2F1_epoch_";
    expect(entries.map(([name]) => name)).toEqual([
      "_journal/start.json",
      ...["samples/a/0_epoch_1.json", "samples/a/0_epoch_2.json", `${odd}1.json`, `${odd}2.json`],
      ...["samples/b/0_epoch_1.json", "samples/b/0_epoch_2.json"],
      ...["samples/b/1_epoch_1.json", "samples/b/1_epoch_2.json"],
      ...["_journal/summaries/1.json", "_journal/summaries/2.json", "header.json"],
    ]);
    const found = Object.fromEntries(entries);
    const failed = { value: 0, answer: "wrong 0", metadata: { pass: false } };
    const said = "State: wrong 0\n\nAction: stop";
    expect(found["samples/a/0_epoch_1.json"]).toMatchObject({
      ...{ id: "a/0", epoch: 1, target: "state 1" },
      input: [{ role: "system" }, { role: "user", content: "State: state 0\n\nAction: go on" }],
      messages: [{}, {}, { role: "assistant", content: [{ reasoning: "as [redacted:github#1]" }, {}] }],
      output: { model: "imported", choices: [{ stop_reason: "unknown" }] },
    });
    expect(found["samples/a/0_epoch_2.json"]?.scores).toEqual({
      "exact-match-2026-11-21": failed,
      "contains-2026-11-30/states": { ...failed, explanation: expect.stringContaining("state") },
      "contains-2026-11-30/wrong": {
        ...failed,
        value: 1,
        explanation: expect.any(String),
        metadata: { pass: true },
      },
    });
    // In free-running mode the state is what was predicted before.
    expect(found[`${odd}2.json`]).toMatchObject({
      messages: [{ role: "system" }, { role: "user", content: said }],
      output: { choices: [] },
      ...{ scores: {}, error: { message: expect.any(String), traceback: "" } },
    });
    expect(found["samples/b/1_epoch_2.json"]?.input).toEqual(talk("open", "wrong 0", "close"));
    expect(found["_journal/summaries/1.json"]).toHaveLength(8);
    const mean = (value: number) => ({ scored_samples: 4, metrics: { mean: { value } } });
    expect(found["header.json"]).toMatchObject({
      ...{ version: 2, status: "success", eval: { model: "imported", config: { epochs: 2 } } },
      results: { total_samples: 8, completed_samples: 7, scores: [mean(0.625), mean(0.625), mean(0.375)] },
      stats: { completed_at: run.finished_at },
    });
  });

  test("an import of a log has the predictions, with the named score as the reward", async () => {
    const { log } = await exported((await imported()).id);
    const { samples: read, figures } = await importText(log, { score: "contains-2026-11-30/wrong" });
    expect(figures).toMatchObject({ format: "inspect", faults: [], left_out: { call_without_answer: 1 } });
    expect(
      read.map(({ messages, next_state, reward }) => [messages?.at(-1)?.content, next_state, reward]),
    ).toEqual([
      ["State: state 1\n\nAction: stop", "state 2", 0],
      ["State: state 0\n\nAction: go on", "state 1", 0],
      ["State: state 0\n\nAction: go on", "wrong 0", 1],
      ...[
        ["open", "state 1", 0],
        ["open", "wrong 0", 1],
      ],
      ...[
        ["close", "state 2", 0],
        ["close", "wrong 1", 1],
      ],
    ]);
    expect(read[1]?.trajectory_id).toEndWith("/a/0/1");
    expect((await importText(log, { assistantIs: "agent" })).samples.length).toBe(2);
  });

  test("a log has times, tokens and the model of a deployment", async () => {
    const dataset_id = await datasets.create();
    await datasets.uploadNew(dataset_id, samples.slice(0, 1));
    const { id } = await create({ dataset_id, target: { deployment: "sandbox" } });
    await end(id);
    const { log } = await exported(id, "&redact=strict");
    const found = Object.fromEntries(await entriesOf(log));
    const model_usage = { "presage-sandbox": { input_tokens: 16, output_tokens: 6, total_tokens: 22 } };
    expect(found["header.json"]).toMatchObject({
      eval: { model: "presage-sandbox" },
      stats: { model_usage },
    });
    const { started_at, completed_at, total_time, ...rest } = found["samples/a/0_epoch_1.json"];
    expect(rest).toMatchObject({
      model_usage,
      output: { time: total_time, choices: [{ stop_reason: "stop" }] },
    });
    expect(Date.parse(completed_at) - Date.parse(started_at)).toBeCloseTo(total_time * 1000, -1);
  });
});
