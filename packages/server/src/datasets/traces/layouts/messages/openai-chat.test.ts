import { expect, test } from "bun:test";
import { importText } from "../../import-text.fixture.ts";

const user = { role: "user", content: "Go." };
const answer = { role: "user", content: "x" };
const called = {
  role: "assistant",
  tool_calls: [{ id: "c", type: "function", function: { name: "ls", arguments: "{}" } }],
};
const ofTool = { role: "tool", tool_call_id: "c", content: "x" };

const reasons: [string, object][] = [
  ["messages with tool calls", { messages: [user, called, answer] }],
  [
    "messages with tool calls",
    { messages: [user, { role: "assistant", function_call: { name: "ls" } }, answer] },
  ],
  ["messages of tools", { messages: [user, { role: "assistant", content: "ls" }, ofTool, answer] }],
  [
    "messages with content parts",
    {
      messages: [
        { role: "user", content: [{ type: "text", text: "Go." }] },
        { role: "assistant", content: "ls" },
        answer,
      ],
    },
  ],
  ["messages with loss", { messages: [user, { role: "assistant", content: "ls", loss: true }, answer] }],
  [
    "output.history; the assistant is the agent",
    { output: { history: [user, { role: "agent", content: "ls" }, answer] } },
  ],
];
reasons.push(
  ["history", { history: [user, called, ofTool] }],
  [
    "conversation; the assistant is the agent",
    { conversation: [user, { role: "ai", content: "ls" }, answer] },
  ],
  [
    "messages with tool calls",
    { messages: [user, { role: "assistant", tool_call: { name: "ls" } }, ofTool] },
  ],
);
reasons.push([
  "messages with <tool_call>",
  { messages: [user, { role: "assistant", content: '<tool_call>{"name":"ls"}</tool_call>' }, answer] },
]);
for (const [reason, value] of reasons)
  test(`the assistant is the agent by ${reason}: ${JSON.stringify(value).slice(0, 60)}`, async () => {
    const { figures } = await importText(JSON.stringify(value), { skipsFaults: true });
    expect(figures.files).toMatchObject([{ format: "openai-chat", recognised_by: reason }]);
  });

test("what a model refuses or says aloud is left out, and counted", async () => {
  const said = { role: "assistant", content: null, refusal: "No.", audio: { id: "a", transcript: "No." } };
  const { samples, figures } = await importText(
    JSON.stringify({ messages: [user, called, ofTool, said, user] }),
  );
  expect(samples.map(({ next_state }) => next_state)).toEqual(["x\n\nGo."]);
  expect(figures.left_out).toEqual({ media: 1, other_event: 1 });
});

test("turns without loss are no actions, and what they led to is only a state", async () => {
  const messages = [
    user,
    { role: "assistant", content: "OK.", loss: false },
    answer,
    { role: "assistant", content: "ls", loss: true },
    { role: "user", content: "key.txt" },
    { ...called, loss: false },
    ofTool,
  ];
  const { samples, figures } = await importText(JSON.stringify({ messages }));
  expect(samples).toMatchObject([
    {
      context: { task_context: "Go." },
      interaction: { state: "x", action: "ls" },
      next_state: "key.txt",
      trajectory_id: "line-1",
    },
  ]);
  expect(figures.left_out).toEqual({ turn_without_loss: 2 });
});

const texts = JSON.stringify({ id: "t", messages: [user, { role: "assistant", content: "ls" }, answer] });

test("in messages of texts the assistant is the environment, unless the upload says that it is the agent", async () => {
  const asEnvironment = await importText(texts);
  expect(asEnvironment.figures.files).toMatchObject([
    { format: "chat", recognised_by: "messages of texts alone; the assistant is the environment" },
  ]);
  expect(asEnvironment.samples).toEqual([
    { trajectory_id: "t", step: 0, messages: [user], next_state: "ls" },
  ] as never);
  const asAgent = await importText(texts, { assistantIs: "agent" });
  expect(asAgent.figures.files[0]?.recognised_by).toEndWith("the assistant is the agent");
  expect(asAgent.samples).toMatchObject([{ interaction: { state: "Go.", action: "ls" }, next_state: "x" }]);
  for (const format of ["openai-chat", "chat"] as const)
    expect((await importText(texts, { format, assistantIs: "environment" })).samples).toEqual(
      asEnvironment.samples,
    );
});

test("calls may be one object or JSON text", async () => {
  const [call] = called.tool_calls;
  for (const tool_calls of [call, JSON.stringify(call), JSON.stringify([call, { x: 1 }])]) {
    const { samples, figures } = await importText(
      JSON.stringify({ messages: [user, { role: "assistant", content: "", tool_calls }, ofTool] }),
    );
    expect(samples).toMatchObject([{ interaction: { action: '{"input":{},"tool":"ls"}' }, next_state: "x" }]);
    expect(figures.left_out).toEqual(`${tool_calls}`.includes('"x"') ? { call_without_answer: 1 } : {});
  }
});

test("a call of a custom tool has a text as its input", async () => {
  const custom = { id: "c", type: "custom", custom: { name: "python", input: "print(1)" } };
  const { samples, figures } = await importText(
    JSON.stringify({ messages: [user, { role: "assistant", tool_calls: [custom] }, ofTool] }),
  );
  expect(samples).toMatchObject([
    { interaction: { action: '{"input":"print(1)","tool":"python"}' }, next_state: "x" },
  ]);
  expect(figures.left_out).toEqual({});
});

test.each([
  ["openai-chat", [user, called, ofTool, { role: "assistant", content: "Done." }, answer]],
  [
    "openai-chat",
    [user, { role: "assistant", content: "ls" }, answer, { role: "assistant", content: "Done." }, answer],
  ],
  [
    "anthropic",
    [
      user,
      { role: "assistant", content: [{ type: "tool_use", id: "c", name: "ls", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "x" }] },
      { role: "assistant", content: "Done." },
      answer,
    ],
  ],
] as const)(
  "messages by themselves are one conversation with the file's name, as an array and as lines: %s",
  async (format, messages) => {
    const texts = [JSON.stringify(messages), messages.map((one) => JSON.stringify(one)).join("\n")];
    for (const text of texts) {
      const { samples, figures } = await importText(text, { name: "run-7.json" });
      expect(figures.files).toMatchObject([{ format }]);
      const places = samples.map(({ trajectory_id, step, next_state }) => [trajectory_id, step, next_state]);
      expect(places).toEqual([
        ["run-7", 0, "x"],
        ["run-7", 1, "x"],
      ]);
    }
    const damaged = `${texts[1]}\n${JSON.stringify({ role: "critic", content: "No." })}`;
    await expect(importText(damaged)).rejects.toMatchObject({ faults: [{ line: messages.length + 1 }] });
  },
);

test("the assistant of messages by themselves, or under another name, can be the environment", async () => {
  const messages = [user, { role: "assistant", content: "x" }];
  for (const value of [messages, { history: messages }]) {
    const { samples } = await importText(JSON.stringify(value), { assistantIs: "environment" });
    expect(samples).toMatchObject([{ messages: [user], next_state: "x" }]);
  }
});

test("parts can have their text, reasoning and calls as values", async () => {
  const part = (type: string, value: string) => ({ type, value });
  const messages = [
    { role: "user", content: [part("text", "Go.")] },
    {
      role: "assistant",
      content: [part("reasoning", "A drawer?"), part("tool_call", '{"name":"ls","arguments":{}}')],
    },
    { role: "tool", content: [part("text", "key.txt")] },
  ];
  const { samples, figures } = await importText(JSON.stringify({ messages }));
  const interaction = { state: "Go.", action: '{"input":{},"tool":"ls"}' };
  expect(samples).toMatchObject([{ interaction, next_state: "key.txt" }]);
  expect(figures.left_out).toEqual({ reasoning: 1 });
});
