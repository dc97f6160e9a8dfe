import { expect, test } from "bun:test";
import { importText } from "../../import-text.fixture.ts";

const read = (lines: readonly object[], options = {}) =>
  importText(lines.map((one) => JSON.stringify(one)).join("\n"), options);
const message = (role: string, content: unknown, more: object = {}) => ({
  type: "message",
  message: { role, content, ...more },
});
const call = (id: string, name: string, input: object) => ({
  id,
  function: { name, arguments: JSON.stringify(input) },
});

test("a session's messages are turns, with times in milliseconds", async () => {
  const { samples, figures } = await read([
    { type: "session", harness: "my-agent", id: "run-1", name: "The key" },
    message("system", "Be brief."),
    message("user", "Find the key.", { timestamp: 1767261600000 }),
    message("assistant", "I look.", {
      reasoningContent: "A drawer?",
      toolCalls: [call("t1", "shell", { cmd: "ls" }), call("t2", "weigh", {})],
      timestamp: 1767261601000,
      model: "m",
    }),
    message("tool", "2 kg", { toolCallId: "t2", timestamp: 1767261603500 }),
    message("tool", "key.txt", { toolCallId: "t1", timestamp: 1767261602000 }),
    message("assistant", "Found."),
    { type: "session", harness: "my-agent", id: "run-2" },
    message("user", "Wait."),
    message("assistant", "For what?"),
    message("user", "Rain."),
  ]);
  const context = { task_context: "Find the key.", domain_knowledge: "Be brief." };
  const tags = { source: "sts", agent: "my-agent", model: "m" };
  expect(samples).toEqual([
    {
      trajectory_id: "run-1",
      step: 0,
      context,
      interaction: { state: "Find the key.", action: '{"input":{"cmd":"ls"},"tool":"shell"}' },
      next_state: "key.txt",
      at: "2026-01-01T10:00:02.000Z",
      tags,
    },
    {
      trajectory_id: "run-1",
      step: 1,
      context,
      interaction: { state: "key.txt", action: '{"input":{},"tool":"weigh"}' },
      next_state: "2 kg",
      at: "2026-01-01T10:00:03.500Z",
      tags,
    },
    {
      trajectory_id: "run-2",
      step: 0,
      context: { task_context: "Wait." },
      interaction: { state: "Wait.", action: "For what?" },
      next_state: "Rain.",
      tags: { source: "sts", agent: "my-agent" },
    },
  ]);
  expect(figures.left_out).toEqual({ last_message_of_agent: 1, reasoning: 1, text_beside_call: 1 });
  expect(figures.files).toMatchObject([{ format: "sts", recognised_by: "a session's header with harness" }]);
});

test("a session of Pi's has blocks, usage, errors and branches, of which the last is read", async () => {
  let last: string | null = null;
  const entry = (id: string, value: object, parentId = last) => {
    last = id;
    return { id, parentId, timestamp: "2026-01-01T10:00:00.000Z", ...value };
  };
  const bash = (id: string) => ({ type: "toolCall", id, name: "bash", arguments: { command: "ls" } });
  const cost = { input: 0.01, output: 0.02, cacheRead: 0, cacheWrite: 0, total: 0.03 };
  const { samples, figures } = await read([
    { type: "session", version: 3, id: "uuid", timestamp: "2026-01-01T10:00:00.000Z", cwd: "/home/ann" },
    entry("m0", { type: "model_change", provider: "p", modelId: "m" }),
    entry("m1", message("user", [{ type: "text", text: "Find the key." }])),
    entry("b1", message("assistant", [{ type: "text", text: "No." }])),
    entry("b2", message("user", "Do it!")),
    entry(
      "m2",
      message("assistant", [{ type: "thinking", thinking: "A drawer?" }, bash("c1")], {
        model: "m",
        usage: { input: 12, output: 5, cacheRead: 900, cacheWrite: 0, totalTokens: 917, cost },
        stopReason: "toolUse",
      }),
      "m1",
    ),
    entry(
      "m3",
      message("toolResult", [{ type: "text", text: "no such folder" }], {
        toolCallId: "c1",
        toolName: "bash",
        isError: true,
        timestamp: 1767261602000,
      }),
    ),
    entry("m4", message("bashExecution", undefined, { command: "ls", output: "", exitCode: 0 })),
    entry("m5", { type: "label", targetId: "m3", label: "here" }),
  ]);
  expect(samples).toEqual([
    {
      trajectory_id: "uuid",
      step: 0,
      context: { task_context: "Find the key." },
      interaction: { state: "Find the key.", action: '{"input":{"command":"ls"},"tool":"bash"}' },
      next_state: "no such folder",
      at: "2026-01-01T10:00:02.000Z",
      usage: { prompt_tokens: 12, completion_tokens: 5, cached_tokens: 900, cost_usd: 0.03 },
      tags: { source: "sts", model: "m", error: "true" },
    },
  ]);
  expect(figures.left_out).toEqual({ branch: 2, other_event: 3, reasoning: 1 });
});

const header = { type: "session", harness: "h", id: "s" };
const faults: [string, object[], number, (string | number)[]][] = [
  ["a message before any session", [message("user", "Hi."), header, message("user", "Hi.")], 1, ["type"]],
  ["a line without a type", [header, { message: {} }, message("user", "Hi.")], 2, ["type"]],
  [
    "a message that is none",
    [header, { type: "message", message: 7 }, message("user", "Hi.")],
    2,
    ["message"],
  ],
  ["an unknown role", [header, message("robot", "Hi."), message("user", "Hi.")], 2, ["message", "role"]],
];
for (const [name, lines, number, path] of faults)
  test(`${name} is a fault of its line`, async () => {
    const { figures } = await read(lines, { format: "sts", skipsFaults: true });
    expect(figures.faults.map(({ loc }) => loc)).toEqual([["body", "line", number, ...path]]);
  });
