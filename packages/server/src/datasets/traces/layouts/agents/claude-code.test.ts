import { expect, test } from "bun:test";
import { LeftOut } from "../../content.ts";
import { importText } from "../../import-text.fixture.ts";
import { maxHeldBytes } from "../../layout.ts";
import { claudeCode } from "./claude-code.ts";

let lines = 0;
/** A line as Claude Code writes it. */
function line(type: string, message: object | undefined, more: object = {}): object {
  lines += 1;
  return {
    parentUuid: lines === 1 ? null : `u${lines - 1}`,
    isSidechain: false,
    userType: "external",
    cwd: "/home/ann",
    sessionId: "s1",
    version: "2.1.144",
    gitBranch: "main",
    type,
    message,
    uuid: `u${lines}`,
    timestamp: `2026-01-01T10:00:${String(lines).padStart(2, "0")}.000Z`,
    ...more,
  };
}
const user = (content: unknown, more?: object) => line("user", { role: "user", content }, more);
function assistant(id: string, content: unknown, usage?: object, more?: object): object {
  const message = {
    model: "claude-test",
    id,
    type: "message",
    role: "assistant",
    content,
    stop_reason: null,
    usage,
  };
  return line("assistant", message, { requestId: "req_1", ...more });
}
const use = (id: string, command: string) => ({ type: "tool_use", id, name: "Bash", input: { command } });
const result = (id: string, content: unknown, is_error?: boolean) => [
  { type: "tool_result", tool_use_id: id, content, is_error },
];
const read = (all: readonly object[], options = {}) =>
  importText(all.map((one) => JSON.stringify(one)).join("\n"), { name: "x.jsonl", ...options });

test("a session's lines are turns: those of one message together, answers by their ids", async () => {
  lines = 0;
  const { samples, figures } = await read([
    { type: "summary", summary: "The key", leafUuid: "u9" },
    { type: "file-history-snapshot", messageId: "u1", snapshot: {}, isSnapshotUpdate: false },
    user("Find the key."),
    line("system", undefined, { content: "Compacted", subtype: "compact_boundary", level: "info" }),
    line("system", undefined, { content: "Be brief." }),
    assistant("msg_1", [{ type: "thinking", thinking: "A drawer?", signature: "s" }], { output_tokens: 1 }),
    assistant("msg_1", [{ type: "text", text: "I look." }], { output_tokens: 1 }),
    assistant("msg_1", [use("toolu_1", "ls")], { output_tokens: 1 }),
    user(result("toolu_1", "key.txt"), { toolUseResult: { stdout: "key.txt" } }),
    assistant("msg_1", [use("toolu_2", "cat x")], {
      input_tokens: 12,
      output_tokens: 5,
      cache_creation_input_tokens: 3,
      cache_read_input_tokens: 900,
    }),
    user(result("toolu_2", [{ type: "text", text: "No such file" }], true), { toolUseResult: "Error" }),
    user("Sub task", { isSidechain: true }),
    assistant("msg_9", [use("toolu_9", "pwd")], undefined, { isSidechain: true }),
    assistant("msg_2", [{ type: "text", text: "API Error" }], undefined, { isApiErrorMessage: true }),
    assistant("msg_3", [{ type: "text", text: "Which file?" }]),
    user([
      { type: "text", text: "key.txt" },
      { type: "image", source: {} },
    ]),
  ]);
  const common = {
    trajectory_id: "s1",
    context: { task_context: "Find the key.", domain_knowledge: "Be brief." },
    reward: undefined,
    done: undefined,
  };
  const tags = { source: "claude-code", model: "claude-test" };
  const usage = { prompt_tokens: 12, completion_tokens: 5, cached_tokens: 900 };
  expect(samples).toEqual([
    {
      ...common,
      step: 0,
      interaction: { state: "Find the key.", action: '{"input":{"command":"ls"},"tool":"Bash"}' },
      next_state: "key.txt",
      at: "2026-01-01T10:00:07.000Z",
      usage,
      tags,
    },
    {
      ...common,
      step: 1,
      interaction: { state: "key.txt", action: '{"input":{"command":"cat x"},"tool":"Bash"}' },
      next_state: "No such file",
      at: "2026-01-01T10:00:09.000Z",
      usage,
      tags: { ...tags, error: "true" },
    },
    {
      ...common,
      step: 2,
      interaction: { state: "No such file", action: "Which file?" },
      next_state: "key.txt[image]",
      at: "2026-01-01T10:00:14.000Z",
      usage: undefined,
      tags,
    },
  ]);
  expect(figures.left_out).toEqual({
    media: 1,
    other_event: 4,
    reasoning: 1,
    side_chain: 2,
    text_beside_call: 1,
  });
  expect(figures.files).toMatchObject([{ format: "claude-code", recognised_by: "type, uuid and sessionId" }]);
});

test("what Claude Code itself says is neither the task nor an action", async () => {
  lines = 0;
  const { samples, figures } = await read([
    user("<local-command-caveat>The user ran commands.</local-command-caveat>", { isMeta: true }),
    user("<command-name>/clear</command-name>"),
    user([
      { type: "text", text: "Find the key in " },
      { type: "image", source: {} },
    ]),
    assistant("msg_1", [use("toolu_1", "ls")]),
    user(result("toolu_1", "key.txt")),
    line("assistant", {
      id: "x",
      model: "<synthetic>",
      role: "assistant",
      content: [{ type: "text", text: "No response requested." }],
    }),
    user("Go on."),
  ]);
  expect(samples).toMatchObject([
    {
      context: { task_context: "Find the key in [image]" },
      interaction: {
        state: expect.stringMatching(/^<local-command-caveat>.*\n\nFind the key in \[image\]$/s),
      },
      next_state: "key.txt\n\nGo on.",
    },
  ]);
  expect(figures.left_out).toEqual({ media: 1, other_event: 1 });
});

test("of a session that was rewound, the branch that ends it is read, with all answers of calls made at once", async () => {
  const at = (uuid: string, parentUuid: string | null) => ({ uuid, parentUuid });
  const { samples, figures } = await read([
    user("Find the lamp.", at("a1", null)),
    assistant("msg_0", [use("toolu_0", "ls attic")], undefined, at("a2", "a1")),
    // The first prompt was rewound.
    user("Find the key.", at("b1", null)),
    line("attachment", undefined, at("b2", "b1")),
    assistant("msg_1", [use("toolu_1", "ls")], undefined, at("b3", "b2")),
    assistant("msg_1", [use("toolu_2", "ls drawer")], undefined, at("b4", "b3")),
    user(result("toolu_1", "drawer"), at("b5", "b3")),
    user(result("toolu_2", "key.txt"), at("b6", "b4")),
    assistant("msg_2", [use("toolu_3", "rm key.txt")], undefined, at("c1", "b6")),
    user(result("toolu_3", "removed"), at("c2", "c1")),
    // After compaction, another field names the parent.
    line("system", undefined, {
      ...{ content: "Conversation compacted", subtype: "compact_boundary" },
      ...{ ...at("d1", null), logicalParentUuid: "b6" },
    }),
    assistant("msg_3", [use("toolu_4", "cat key.txt")], undefined, at("d2", "d1")),
    user(result("toolu_4", "42"), at("d3", "d2")),
  ]);
  expect(samples.map(({ context, next_state }) => [context?.task_context, next_state])).toEqual([
    ["Find the key.", "drawer"],
    ["Find the key.", "key.txt"],
    ["Find the key.", "42"],
  ]);
  expect(figures.left_out).toMatchObject({ branch: 4 });
});

test("sessions whose lines alternate are read apart, and of many the silent ones first", async () => {
  const ids = Array.from({ length: 20 }, (_, index) => `session-${index}`);
  const turns = [
    (sessionId: string) => user("Go.", { sessionId }),
    (sessionId: string) => assistant("msg_1", [use("toolu_1", "ls")], undefined, { sessionId }),
    (sessionId: string) => user(result("toolu_1", sessionId), { sessionId }),
  ];
  for (const together of [2, 16]) {
    const all = [];
    for (let at = 0; at < ids.length; at += together)
      for (const turn of turns) all.push(...ids.slice(at, at + together).map(turn));
    const { samples } = await read(all);
    expect(samples.map(({ trajectory_id, next_state }) => [trajectory_id, next_state]).sort()).toEqual(
      ids.map((id) => [id, id]).sort(),
    );
  }
});

test("nothing is kept of a session that was too long, even once others were silent for longer", () => {
  const { read, end } = claudeCode.open({
    ...{ source: undefined, assistantIs: undefined, score: undefined },
    leftOut: new LeftOut(),
  });
  const add = (sessionId: string, bytes = 1) => [
    ...read({ value: user("Go.", { sessionId }), bytes, place: ["line", 1] }),
  ];
  add("long", maxHeldBytes);
  expect(() => add("long")).toThrow("The session is longer");
  const others = Array.from({ length: 17 }, (_, index) => add(`other-${index}`));
  const all = [...others.flat(), ...add("long"), ...(end?.() ?? [])];
  const turns = all.map((one) => ("trace" in one ? [one.trace.id, one.trace.turns.length] : []));
  expect(turns.filter(([id]) => id === "long")).toEqual([
    ["long", 0],
    ["long", 0],
  ]);
  expect(turns).toHaveLength(19);
});

test("a stream of JSON is a session, too, apart from its subagents' messages", async () => {
  const line = (type: string, uuid: string, content: unknown, parent_tool_use_id: string | null = null) => ({
    ...{ type, uuid, session_id: "s2", parent_tool_use_id },
    message: { role: type, content, id: type === "assistant" ? uuid : undefined },
  });
  const { samples, figures } = await read([
    { type: "system", subtype: "init", session_id: "s2", uuid: "i1", tools: ["Bash"] },
    line("user", "u1", "Go."),
    line("assistant", "u2", [use("toolu_1", "Task")]),
    line("assistant", "u3", [use("toolu_2", "ls")], "toolu_1"),
    line("user", "u4", result("toolu_2", "inner"), "toolu_1"),
    line("user", "u5", result("toolu_1", "key.txt")),
    { type: "result", subtype: "success", session_id: "s2", uuid: "r1", result: "Done." },
  ]);
  expect(samples).toMatchObject([
    { trajectory_id: "s2", interaction: { state: "Go." }, next_state: "key.txt" },
  ]);
  expect(samples).toHaveLength(1);
  expect(figures.left_out).toEqual({ other_event: 2, side_chain: 2 });
});

const faults: [string, object, (string | number)[]][] = [
  ["a line without a type", { uuid: "u", sessionId: "s" }, ["type"]],
  ["a message that is none", { type: "user", message: "Hi." }, ["message"]],
  ["a message of an unknown role", { type: "user", message: { role: 7 } }, ["message", "role"]],
];
for (const [name, faulty, path] of faults)
  test(`${name} is a fault of its line`, async () => {
    const { figures } = await read([user("Go."), faulty, user("On.")], {
      format: "claude-code",
      skipsFaults: true,
    });
    expect(figures.faults.map(({ loc }) => loc)).toEqual([["body", "line", 2, ...path]]);
  });
