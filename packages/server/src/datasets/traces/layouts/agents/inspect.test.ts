import { expect, test } from "bun:test";
import { importText } from "../../import-text.fixture.ts";

/** As inspect-ai 0.3.285 writes it, with its mock model: zstd within the zip. */
const log = await Bun.file(new URL("inspect.fixture.eval", import.meta.url)).bytes();

const call = (input: object) => JSON.stringify({ input, tool: "shell" });

test("a log of inspect-ai's is one file, of which the samples are read", async () => {
  const { samples, figures } = await importText(log, { name: "runs/2026_keys.eval" });
  const tags = { source: "inspect", model: "mockllm/model", score_tidy: "0.25" };
  const one = {
    trajectory_id: "keys/k1/1",
    context: { task_context: "Find the key.", domain_knowledge: "Be brief." },
  };
  const other = { trajectory_id: "keys/2/1", context: { ...one.context, task_context: "Find the lamp." } };
  expect(samples).toEqual([
    {
      ...{ ...other, step: 0, reward: 0, done: true },
      interaction: { state: "Find the lamp.", action: call({ cmd: "long" }) },
      next_state: "log line\n".repeat(100),
      tags: { ...tags, task: "keys/2" },
    },
    {
      ...{ ...one, step: 0 },
      interaction: { state: "Find the key.", action: call({ cmd: "ls drawer" }) },
      next_state: "key.txt\nnails",
      tags: { ...tags, task: "keys/k1" },
    },
    {
      ...{ ...one, step: 1, reward: 1, done: true },
      interaction: { state: "key.txt\nnails", action: call({ cmd: "fail" }) },
      next_state: "no such command",
      tags: { ...tags, task: "keys/k1", error: "true" },
    },
  ]);
  expect(figures.left_out).toEqual({ last_message_of_agent: 2, reasoning: 1, text_beside_call: 3 });
  expect(figures.files).toEqual([
    {
      file: "runs/2026_keys.eval",
      format: "inspect",
      recognised_by: "_journal/start.json",
      reader_version: 2,
    },
  ]);
  expect(figures.faults).toEqual([]);
});

const sample = {
  ...{ id: 7, epoch: 2, input: "", target: "", completed_at: "2026-01-01T10:00:00Z" },
  messages: [
    { role: "user", content: "attachment://aa" },
    {
      role: "assistant",
      content: [
        { type: "reasoning", reasoning: "hm" },
        { type: "tool_use", tool_type: "web_search", id: "w", name: "search", arguments: "{}", result: "[]" },
      ],
      tool_calls: [{ id: "c", function: "shell", arguments: { text: "tc://bb" } }],
      model: "other",
    },
    {
      role: "tool",
      tool_call_id: "c",
      content: [
        { type: "text", text: "half" },
        { type: "image", image: "attachment://cc" },
      ],
      error: { type: "timeout", message: "too slow" },
    },
  ],
  attachments: { aa: "Go.", bb: "long text" },
  scores: { match: { value: "P" }, judge: { value: { a: 1 } } } as Record<string, { value: unknown }>,
};
const jsonLog = (change: object = {}, of: object = { task: "t", solver: "react" }) =>
  JSON.stringify({ version: 2, status: "success", eval: of, samples: [{ ...sample, ...change }], stats: {} });

test("a log as JSON: attachments, errors with an output, what a provider did, other scores", async () => {
  const { samples, figures } = await importText(jsonLog());
  expect(samples).toEqual([
    {
      ...{ trajectory_id: "t/7/2", step: 0, reward: 0.5, done: true },
      context: { task_context: "Go." },
      interaction: { state: "Go.", action: call({ text: "long text" }) },
      next_state: "half[image]",
      tags: {
        source: "inspect",
        task: "t/7",
        agent: "react",
        model: "other",
        error: "true",
        score_judge: '{"a":1}',
      },
    },
  ]);
  expect(figures.left_out).toEqual({ media: 1, other_event: 1, reasoning: 1 });
});

test.each([
  [{ match: { value: "C" } }, undefined, 1, undefined],
  [{ match: { value: "I" } }, undefined, 0, undefined],
  [{ match: { value: "N" } }, undefined, 0, undefined],
  [{ match: { value: true } }, undefined, 1, undefined],
  [{ match: { value: 0.3 } }, undefined, 0.3, undefined],
  [{ match: { value: "yes" } }, undefined, undefined, "yes"],
  [{ match: { value: [1] } }, undefined, undefined, "[1]"],
  [{ match: 5 }, undefined, undefined, undefined],
  [[], undefined, undefined, undefined],
  [null, undefined, undefined, undefined],
  [{ match: { value: "C" }, judge: { value: 0.7 } }, "judge", 0.7, "C"],
  [{ match: { value: "C" } }, "judge", undefined, "C"],
])("the reward of %j with the score %j is %j, and the tag %j", async (scores, score, reward, tag) => {
  const { samples } = await importText(jsonLog({ scores }), { score });
  expect(samples.map((one) => [one.reward, one.tags?.score_match])).toEqual([[reward, tag]]);
});

test.each([{ completed_at: null }, { limit: { type: "time", limit: 5 } }, { error: { message: "no" } }])(
  "a sample with %j has not come to its end",
  async (change) => {
    expect((await importText(jsonLog(change))).samples.map(({ done }) => done)).toEqual([undefined]);
  },
);

test.each([
  [{ messages: undefined }, ["messages"]],
  [{ messages: { a: 1 } }, ["messages"]],
  [{ messages: [4] }, ["messages", 0]],
  [{ messages: [{ role: 4 }] }, ["messages", 0, "role"]],
])("the fault of %j", async (change, path) => {
  await expect(importText(jsonLog(change))).rejects.toMatchObject({
    faults: [{ path: ["samples", 0, ...path] }],
  });
});

test("values of other types are passed over, and a log without samples has none", async () => {
  const odd = { id: [], epoch: {}, attachments: 4, scores: 4, completed_at: 5 };
  const { samples } = await importText(jsonLog(odd, { task: 4, model: [], solver: {} }), { name: "a.json" });
  expect(samples.map(({ trajectory_id, tags }) => [trajectory_id, tags?.task])).toEqual([["4", "4"]]);
  expect((await importText(JSON.stringify({ eval: { task: "t" }, plan: {} }))).samples).toEqual([]);
  expect((await importText(log, { format: "inspect" })).figures.samples).toBe(3);
});
