import { expect, test } from "bun:test";
import { importText } from "../../import-text.fixture.ts";

const result = (id: string, content: unknown, more: object = {}) => ({
  type: "tool_result",
  tool_use_id: id,
  content,
  ...more,
});
const use = (id: string, name: string, input: unknown) => ({ type: "tool_use", id, name, input });

const request = {
  id: 7,
  model: "claude-test",
  max_tokens: 100,
  system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
  tools: [{ name: "shell", input_schema: { type: "object" } }],
  reward: 1,
  messages: [
    { role: "user", content: [{ type: "text", text: "Find the key." }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "A drawer?", signature: "s" },
        { type: "redacted_thinking", data: "d" },
        { type: "text", text: "I look." },
        use("toolu_1", "shell", { cmd: "ls drawer" }),
        use("toolu_2", "weigh", {}),
        { type: "server_tool_use", id: "srv_1", name: "web_search", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        result("toolu_2", "No scale.", { is_error: true }),
        result("toolu_1", [
          { type: "text", text: "key.txt" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "" } },
        ]),
        { type: "text", text: "Go on." },
      ],
    },
    { role: "assistant", content: [use("toolu_3", "shell", {})] },
    { role: "user", content: [result("toolu_3", [])] },
    { role: "assistant", content: "Done." },
  ],
};

test("blocks are calls and answers, and the request's fields are the context", async () => {
  const { samples, figures } = await importText(JSON.stringify(request));
  const context = {
    task_context: "Find the key.",
    tool_schemas: '[{"name":"shell","input_schema":{"type":"object"}}]',
    domain_knowledge: "Be brief.",
  };
  const tags = { source: "anthropic", model: "claude-test" };
  expect(samples).toEqual([
    {
      trajectory_id: "7",
      step: 0,
      context,
      interaction: { state: "Find the key.", action: '{"input":{"cmd":"ls drawer"},"tool":"shell"}' },
      next_state: "key.txt[image]",
      tags,
    },
    {
      trajectory_id: "7",
      step: 1,
      context,
      interaction: { state: "key.txt[image]", action: '{"input":{},"tool":"weigh"}' },
      next_state: "No scale.\n\nGo on.",
      tags: { ...tags, error: "true" },
    },
    {
      trajectory_id: "7",
      step: 2,
      context,
      interaction: { state: "No scale.\n\nGo on.", action: '{"input":{},"tool":"shell"}' },
      next_state: "",
      tags,
    },
  ]);
  expect(figures.files).toMatchObject([
    { format: "anthropic", recognised_by: "messages with blocks tool_use" },
  ]);
  expect(figures.left_out).toEqual({
    last_message_of_agent: 1,
    media: 1,
    other_event: 1,
    reasoning: 2,
    text_beside_call: 1,
  });
});

test("a file with a request of OpenAI's is read as OpenAI's, which has the same blocks", async () => {
  const called = {
    messages: [
      { role: "assistant", tool_calls: [{ id: "c", function: { name: "ls", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "c", content: "x" },
    ],
  };
  const { samples, figures } = await importText(
    [request, called].map((one) => JSON.stringify(one)).join("\n"),
  );
  expect(figures.format).toBe("openai-chat");
  expect(samples.map(({ next_state }) => next_state)).toEqual([
    "key.txt[image]",
    "No scale.\n\nGo on.",
    "",
    "x",
  ]);
});

const faults: [string, unknown, (string | number)[]][] = [
  ["no messages", { system: "x" }, ["messages"]],
  ["a message that is a text", { messages: ["Find."] }, ["messages", 0]],
  ["an unknown role", { messages: [{ role: "robot", content: "" }] }, ["messages", 0, "role"]],
];
for (const [name, value, path] of faults)
  test(`${name} is a fault`, async () => {
    const faulty = await importText([request, request, value].map((one) => JSON.stringify(one)).join("\n"), {
      format: "anthropic",
      skipsFaults: true,
    });
    expect(faulty.figures.faults.map(({ loc }) => loc)).toEqual([["body", "line", 3, ...path]]);
    expect(faulty.samples).toHaveLength(6);
  });

test("with the assistant as the environment it is read as a chat", async () => {
  const messages = [
    { role: "user", content: "open fridge" },
    { role: "assistant", content: "The fridge is open." },
  ];
  const { samples } = await importText(JSON.stringify({ messages }), {
    format: "anthropic",
    assistantIs: "environment",
  });
  expect(samples).toMatchObject([{ trajectory_id: "line-1", next_state: "The fridge is open." }]);
});
