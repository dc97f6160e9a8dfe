import { expect, test } from "bun:test";
import { importText } from "./import-text.fixture.ts";

/** A trajectory with one call. */
const traceOf = (input: object, content: unknown, more: object = {}) => ({
  messages: [
    { role: "user", content: "Go." },
    { role: "assistant", tool_calls: [{ id: "a", function: { name: "f", arguments: input } }] },
    { role: "tool", tool_call_id: "a", content },
  ],
  ...more,
});

test("NUL characters and lone surrogates are mended wherever they are, and counted once", async () => {
  const trace = traceOf(
    { "k\0": "\ud800", same: "x" },
    { text: "\0" },
    { id: "t\0", tools: [{ name: "f\0" }] },
  );
  trace.messages.unshift({ role: "user", content: "Hurry\0." });
  const { samples, figures } = await importText(JSON.stringify(trace));
  expect(samples).toMatchObject([
    {
      trajectory_id: "t",
      context: { task_context: "Hurry.", tool_schemas: '[{"name":"f"}]' },
      interaction: { action: '{"input":{"k":"\ufffd","same":"x"},"tool":"f"}' },
      next_state: '{"text":""}',
    },
  ]);
  expect(figures.repaired).toBe(6);
  const named = JSON.stringify(traceOf({}, "x")).replace('"name":"f"', '"name":"f\\ud800"');
  const { tools, repaired } = (await importText(named)).figures;
  expect([tools, repaired]).toEqual([["f\ufffd"], 1]);
});

test.each([
  [["a", { type: "text", text: "b" }, { type: "image" }, { z: 1, a: "c" }], 'ab[image]{"a":"c","z":1}'],
  [["a", "b"], "ab"],
  [["a", 1], '["a",1]'],
  [[{ type: "file", name: "x" }, { type: "dir" }], '[{"name":"x","type":"file"},{"type":"dir"}]'],
  [
    [{ type: "file", path: "README.md", content: "a", url: "u" }],
    '[{"content":"a","path":"README.md","type":"file","url":"u"}]',
  ],
  [{ type: "profile", name: "Ann" }, '{"name":"Ann","type":"profile"}'],
  [
    [
      { type: "input_file", file_id: "f" },
      { type: "image", url: "u" },
    ],
    "[file][image]",
  ],
])("the answer %j is %s", async (content, next) => {
  const { samples } = await importText(JSON.stringify(traceOf({}, content)));
  expect(samples.map(({ next_state }) => next_state)).toEqual([next]);
});

test("a list of texts that a span's tool gave is JSON", async () => {
  const run = { id: "r", name: "f", run_type: "tool", trace_id: "t", outputs: { output: ["a", "b"] } };
  expect((await importText(JSON.stringify(run))).samples[0]?.next_state).toBe('["a","b"]');
});

const numbers = '{"a":1234567890123456789,"b":[1.0,-2.50,1e-7,0.1,1767225600.123456789],"c":100}';

test.each([
  ["as JSON", numbers],
  ["as a text of JSON", JSON.stringify(numbers)],
])("numbers %s are written as they were", async (_, input) => {
  const trace = JSON.stringify(traceOf({}, "ANSWER", { tools: ["TOOL"], reward: 1 }))
    .replace('"arguments":{}', `"arguments":${input}`)
    .replace('"ANSWER"', numbers)
    .replace('"TOOL"', numbers)
    .replace('"reward":1', '"reward":1.0');
  const { samples } = await importText(trace);
  expect(samples).toMatchObject([
    {
      context: { tool_schemas: `[${numbers}]` },
      interaction: { action: `{"input":${numbers},"tool":"f"}` },
      next_state: numbers,
      reward: 1,
    },
  ]);
});

test.each(["1734567890123456789", "1767225600.123456789", "1.0", "7"])(
  "%s alone is written as it was",
  async (number) => {
    const line = (input: string, content: string, id: string) =>
      JSON.stringify(traceOf({}, "ANSWER", { id: "ID" }))
        .replace('"arguments":{}', `"arguments":${input}`)
        .replace('"ANSWER"', content)
        .replace('"ID"', id);
    const { samples } = await importText(
      [line(`"${number}"`, number, number), line("7", "7", "8")].join("\n"),
    );
    const input = number === "7" ? number : `"${number}"`;
    expect(samples[0]).toMatchObject({
      trajectory_id: number,
      interaction: { action: `{"input":${input},"tool":"f"}` },
      next_state: number,
    });
  },
);

test.each(["2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z"])("the time %s is none", async (created_at) => {
  const message = (role: string, content: string, more: object = {}) => ({
    ...{ type: "message", timestamp: created_at },
    message: { role, content, ...more },
  });
  const lines = [
    { type: "session", harness: "h", id: "s" },
    message("assistant", "ls"),
    message("user", "x"),
  ];
  const { samples } = await importText(lines.map((one) => JSON.stringify(one)).join("\n"));
  expect(samples.map(({ at }) => at)).toEqual([undefined]);
});

test("numbers stay as they were written beside a secret, and in spans", async () => {
  const secret = `ghp_${"a1B2".repeat(9)}`;
  const input = `{"a":1.0,"token":"${secret}"}`;
  const run = `{"id":"r","name":"f","run_type":"tool","trace_id":"t","inputs":${input},"outputs":{"output":[1.0,9007199254740993]}}`;
  const alone = run.replace("[1.0,9007199254740993]", "9007199254740993");
  expect((await importText(alone)).samples[0]?.next_state).toBe("9007199254740993");
  expect((await importText(run)).samples).toMatchObject([
    {
      interaction: { action: '{"input":{"a":1.0,"token":"[redacted:github#1]"},"tool":"f"}' },
      next_state: "[1.0,9007199254740993]",
    },
  ]);
});

test("integers of OTLP that are no doubles stay texts", async () => {
  const ints = ["12", "9007199254740993"].map((intValue) => ({ intValue }));
  const attributes = [
    { key: "gen_ai.operation.name", value: { stringValue: "execute_tool" } },
    { key: "gen_ai.tool.name", value: { stringValue: "f" } },
    { key: "gen_ai.tool.call.arguments", value: { arrayValue: { values: ints } } },
    { key: "gen_ai.tool.call.result", value: { stringValue: "x" } },
  ];
  const { samples } = await importText(JSON.stringify({ traceId: "t", spanId: "s", name: "f", attributes }));
  expect(samples[0]?.interaction?.action).toBe('{"input":[12,"9007199254740993"],"tool":"f"}');
});

test("the name of a turn's model has no secrets", async () => {
  const [call] = [{ tool_call_id: "a", function_name: "f", arguments: {} }];
  const secret = `ghp_${"a1B2".repeat(9)}`;
  const step = { source: "agent", model_name: secret, tool_calls: [call] };
  const { samples } = await importText(
    JSON.stringify({
      ...{ schema_version: "ATIF-v1.7", session_id: "s", agent: { name: "a", version: "1" } },
      steps: [{ step_id: 1, ...step, observation: { results: [{ source_call_id: "a", content: "x" }] } }],
    }),
  );
  expect(samples[0]?.tags?.model).toBe("[redacted:github#1]");
});

test("a text over 4 MiB is a fault, in the context, too; and so are more than 10,000 steps", async () => {
  const long = "\u00e9".repeat(2 * 1024 * 1024);
  const [call, answer] = traceOf({}, "x").messages.slice(1);
  const steps = (count: number) => Array.from({ length: count }, () => [call, answer]).flat();
  const lines = [
    traceOf({}, long),
    { messages: [...traceOf({}, "x").messages, call, { ...answer, content: `${long}x` }] },
    { messages: [{ role: "system", content: `${long}x` }, call, answer] },
    { messages: steps(10_000) },
    { messages: steps(10_001) },
    traceOf({}, "x"),
  ];
  const { samples, figures } = await importText(lines.map((one) => JSON.stringify(one)).join("\n"), {
    skipsFaults: true,
  });
  expect(samples.length).toBe(10_002);
  expect(figures.faults.map(({ loc, msg }) => [loc[2], msg])).toEqual([
    [2, "A text of step 1 is longer than 4194304 bytes"],
    [3, "A text of its context is longer than 4194304 bytes"],
    [5, "The trajectory has more than 10000 steps"],
  ]);
});

test("a sample with 50 tags cannot have the tag of its split too", async () => {
  const line = (tags: number) =>
    JSON.stringify({
      ...{ trajectory_id: "t", step: tags, interaction: { state: "s", action: "a" }, next_state: "n" },
      tags: Object.fromEntries(Array.from({ length: tags }, (_, index) => [`t${index}`, "x"])),
    });
  const split = { by: "trajectory", test: 1, calibration: 0 };
  const { samples, figures } = await importText(`${line(49)}\n${line(50)}`, { split, skipsFaults: true });
  expect([samples.length, samples[0]?.tags?.split, figures.samples]).toEqual([1, "test", 1]);
  expect(figures.faults).toMatchObject([{ loc: ["body", "line", 2, "tags"] }]);
});
