import { expect, test } from "bun:test";
import { importText } from "../../import-text.fixture.ts";

const contents = [
  { role: "user", parts: [{ text: "Find the key." }, { inlineData: { mimeType: "image/png", data: "x" } }] },
  {
    role: "model",
    parts: [
      { text: "The drawer?", thought: true },
      { text: "I look." },
      { functionCall: { name: "shell", args: { cmd: "ls" } } },
      { functionCall: { name: "shell", args: { cmd: "rm" } } },
    ],
  },
  {
    role: "user",
    parts: [
      { functionResponse: { name: "shell", response: { output: "key.txt" } } },
      { functionResponse: { name: "shell", response: { error: "Denied." } } },
    ],
  },
  { role: "model", parts: [{ function_call: { name: "weigh", args: {} } }] },
  { role: "model", parts: [{ function_response: { name: "weigh", response: { grams: 5 } } }] },
];
const taken = (samples: Awaited<ReturnType<typeof importText>>["samples"]) =>
  samples.map(({ interaction, next_state, tags }) => [interaction?.action, next_state, tags?.error]);
const expected = [
  ['{"input":{"cmd":"ls"},"tool":"shell"}', "key.txt", undefined],
  ['{"input":{"cmd":"rm"},"tool":"shell"}', "Denied.", "true"],
  ['{"input":{},"tool":"weigh"}', '{"grams":5}', undefined],
];

test("a request's contents are turns, and a function's output or error is its answer", async () => {
  const request = {
    systemInstruction: { parts: [{ text: "Be brief." }] },
    contents,
    tools: [{ name: "shell" }],
  };
  const { samples, figures } = await importText(JSON.stringify(request));
  expect(taken(samples)).toEqual(expected as ReturnType<typeof taken>);
  expect(samples[0]).toMatchObject({
    trajectory_id: "line-1",
    context: {
      task_context: "Find the key.[image]",
      domain_knowledge: "Be brief.",
      tool_schemas: '[{"name":"shell"}]',
    },
  });
  expect(figures.left_out).toEqual({ media: 1, reasoning: 1, text_beside_call: 1 });
});

test("contents by themselves are one conversation with the file's name", async () => {
  const { samples, figures } = await importText(JSON.stringify(contents), { name: "checkpoint.json" });
  expect(taken(samples)).toEqual(expected as ReturnType<typeof taken>);
  expect(figures.files).toMatchObject([{ format: "gemini" }]);
  expect(samples[0]?.trajectory_id).toBe("checkpoint");
});

test("a session of Gemini CLI has its answers in its calls, as a document and as lines", async () => {
  const time = (second: number) => `2026-01-01T10:00:0${second}.000Z`;
  const call = {
    ...{ id: "c1", name: "shell", args: { cmd: "ls" }, status: "error", timestamp: time(2) },
    result: [{ functionResponse: { id: "c1", name: "shell", response: { output: "No drawer." } } }],
  };
  const messages = [
    { id: "1", timestamp: time(0), type: "user", content: [{ text: "Find the key." }] },
    {
      ...{ id: "2", timestamp: time(1), type: "gemini", content: "", model: "g-1" },
      ...{
        thoughts: [{ description: "The drawer?" }],
        tokens: { input: 12, output: 5, cached: 3 },
        toolCalls: [call],
      },
    },
    { id: "3", timestamp: time(3), type: "info", content: "Cancelled." },
  ];
  const header = { sessionId: "s1", projectHash: "x", startTime: time(0) };
  const sample = {
    trajectory_id: "s1",
    step: 0,
    context: { task_context: "Find the key." },
    interaction: { state: "Find the key.", action: '{"input":{"cmd":"ls"},"tool":"shell"}' },
    next_state: "No drawer.",
    at: time(2),
    usage: { prompt_tokens: 12, completion_tokens: 5, cached_tokens: 3 },
    tags: { source: "gemini", model: "g-1", error: "true" },
  };
  const whole = await importText(JSON.stringify({ ...header, messages }));
  expect(whole.samples).toEqual([sample]);
  expect(whole.figures.left_out).toEqual({ other_event: 1, reasoning: 1 });
  const [first, answered] = messages;
  // A message is written again when its calls have been answered.
  const lines = [header, first, { ...answered, toolCalls: [] }, { $set: { lastUpdated: time(2) } }, answered];
  const inLines = await importText(lines.map((line) => JSON.stringify(line)).join("\n"));
  expect(inLines.samples).toEqual([sample]);
});
