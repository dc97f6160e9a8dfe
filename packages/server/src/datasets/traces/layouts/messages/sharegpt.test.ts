import { expect, test } from "bun:test";
import { importText } from "../../import-text.fixture.ts";

const human = (value: string) => ({ from: "human", loss: null, value });
const gpt = (value: string, loss: boolean | undefined = true) => ({ from: "gpt", loss, value });
const read = (value: object, options = {}) => importText(JSON.stringify(value), options);
const stepsOf = ({ samples }: Awaited<ReturnType<typeof importText>>) =>
  samples.map(({ interaction, next_state }) => [interaction?.state, interaction?.action, next_state]);

test("AgentGym's turns without loss are no actions, and what stands before them is the task", async () => {
  const { samples, figures } = await read({
    item_id: "alfworld_7",
    id: 3,
    conversations: [
      human("Interact with a household."),
      gpt("OK.", false),
      human("You see a fridge."),
      gpt("Thought:\nMilk is cold.\n\nAction:\nopen fridge"),
      human("It is open."),
      gpt("Ignore this.", false),
      human("It hums."),
      gpt("Action: take milk"),
      human("You have milk."),
      gpt("Done."),
    ],
    system: "Be brief.",
    tools: "[]",
    reward: 0.5,
    success: 1,
  });
  const common = {
    trajectory_id: "alfworld_7",
    context: {
      task_context: "Interact with a household.",
      tool_schemas: "[]",
      domain_knowledge: "Be brief.",
    },
    done: undefined,
    tags: { source: "sharegpt" },
  };
  expect(samples).toEqual([
    {
      ...common,
      step: 0,
      interaction: { state: "You see a fridge.", action: "open fridge" },
      next_state: "It is open.",
    },
    {
      ...common,
      step: 1,
      interaction: { state: "It hums.", action: "take milk" },
      next_state: "You have milk.",
      reward: 0.5,
    },
  ]);
  expect(figures.left_out).toEqual({ last_message_of_agent: 1, turn_without_loss: 2 });
  expect(figures.files).toMatchObject([
    { format: "sharegpt", recognised_by: "conversations of from and value; the assistant is the agent" },
  ]);
});

test("a call without a name beside others is counted", async () => {
  const value = '[{"name":"ls"},{"x":1}]';
  const { samples, figures } = await read({
    conversations: [human("Go."), { from: "function_call", value }, observation("x")],
  });
  expect(samples.map(({ next_state }) => next_state)).toEqual(["x"]);
  expect(figures.left_out).toEqual({ call_without_answer: 1 });
});

test("Word2World's roles are read, and a file without an id gives its name", async () => {
  const told = await read(
    {
      conversations: [
        { role: "system", content: "You cook." },
        { role: "user", content: "The fridge is closed." },
        { role: "assistant", content: "open fridge", reasoning_content: "Milk." },
        { role: "user", content: "It is open." },
      ],
      success: false,
    },
    { name: "runs/alfworld_1.json" },
  );
  expect(stepsOf(told)).toEqual([["The fridge is closed.", "open fridge", "It is open."]]);
  expect(told.samples).toMatchObject([
    { trajectory_id: "alfworld_1", context: { domain_knowledge: "You cook." }, reward: 0 },
  ]);
  expect(told.figures.left_out).toEqual({ reasoning: 1 });
});

const call = (value: unknown) => ({ from: "function_call", value });
const observation = (value: string) => ({ from: "observation", value });
const conversations: [string, object[], string[][]][] = [
  [
    "a call and its observation",
    [
      call('{"name":"ls","arguments":{"b":1,"a":2}}'),
      observation("x"),
      gpt("Found x.", undefined),
      human("Thanks."),
    ],
    [
      ["Go.", '{"input":{"a":2,"b":1},"tool":"ls"}', "x"],
      ["x", "Found x.", "Thanks."],
    ],
  ],
  [
    "two calls of one turn",
    [call('[{"name":"ls"},{"name":"pwd"}]'), observation("x"), { from: "function_response", value: "/home" }],
    [
      ["Go.", '{"input":{},"tool":"ls"}', "x"],
      ["x", '{"input":{},"tool":"pwd"}', "/home"],
    ],
  ],
  ["a call that is no JSON", [call("ls now"), observation("x")], [["Go.", "ls now", "x"]]],
  ["an observation after a text", [gpt("ls"), observation("x")], [["Go.", "ls", "x"]]],
];
for (const [name, turns, steps] of conversations)
  test(`${name} in a conversation`, async () => {
    expect(stepsOf(await read({ conversations: [human("Go."), ...turns] }))).toEqual(steps);
  });

test("with the assistant as the environment it is read as a chat", async () => {
  const options = { assistantIs: "environment", skipsFaults: true } as const;
  const value = {
    id: 4,
    system: "You are a kitchen.",
    conversations: [human("open fridge"), gpt("It is open.")],
  };
  const { samples } = await read(value, options);
  expect(samples).toEqual([
    {
      trajectory_id: "4",
      step: 0,
      messages: [
        { role: "system", content: "You are a kitchen." },
        { role: "user", content: "open fridge" },
      ],
      next_state: "It is open.",
    },
  ]);
  const lines = [value, value, { ...value, conversations: [human("ls"), { from: "gpt", value: 7 }] }];
  const { figures } = await importText(lines.map((one) => JSON.stringify(one)).join("\n"), options);
  expect(figures.faults.map(({ loc }) => loc)).toEqual([["body", "line", 3, "conversations", 1, "content"]]);
});

const faults: [string, object, (string | number)[]][] = [
  ["no conversations", { id: 1 }, ["conversations"]],
  ["a turn that is a text", { conversations: [human("x"), "Hi."] }, ["conversations", 1]],
  ["an unknown speaker", { conversations: [{ from: "toString", value: "" }] }, ["conversations", 0, "from"]],
  ["a turn without a speaker", { conversations: [{ value: "" }] }, ["conversations", 0, "role"]],
];
for (const [name, value, path] of faults)
  test(`${name} is a fault`, async () => {
    const good = { conversations: [human("x"), gpt("y"), human("z")] };
    const text = [good, good, value].map((one) => JSON.stringify(one)).join("\n");
    const { figures } = await importText(text, { format: "sharegpt", skipsFaults: true });
    expect(figures.faults.map(({ loc }) => loc)).toEqual([["body", "line", 3, ...path]]);
  });

test.each([
  ["tool", "function_call"],
  ["function", "gpt"],
  ["tool_response", "tool_call"],
  ["function-response", "function-call"],
])("answers of %s after turns of %s", async (answers, calls) => {
  const value = calls === "gpt" ? "Action: ls" : '{"name": "ls", "arguments": {}}';
  const conversations = [
    { from: "human", value: "Go." },
    { from: calls, value },
    { from: answers, value: "key.txt" },
  ];
  const { samples } = await importText(JSON.stringify({ conversations }));
  const action = calls === "gpt" ? "ls" : '{"input":{},"tool":"ls"}';
  expect(samples).toMatchObject([{ interaction: { state: "Go.", action }, next_state: "key.txt" }]);
});

const inTags = (name: string, ...values: unknown[]) =>
  values
    .map((value) => `<${name}>\n${typeof value === "string" ? value : JSON.stringify(value)}\n</${name}>`)
    .join("\n");
const called = `<think>\nA drawer?\n</think>\nI look.\n${inTags("tool_call", { name: "ls", arguments: { of: "a" } }, { name: "ls" })}`;

test.each([
  ["of a tool", { from: "tool", value: inTags("tool_response", "x", "y") }, []],
  [
    "in the user's turn",
    { from: "human", value: `${inTags("tool_response", "x", "y")}\nGo on.` },
    ["Go on."],
  ],
  ["without tags, each in a turn", { from: "tool", value: "x" }, [], { from: "tool", value: "y" }],
] as const)("calls in tags are calls, with answers %s", async (_, answer, said, ...more) => {
  const conversations = [{ from: "human", value: "Go." }, { from: "gpt", value: called }, answer, ...more];
  const { samples, figures } = await importText(JSON.stringify({ conversations }));
  expect(samples.map(({ interaction, next_state }) => [interaction?.action, next_state])).toEqual([
    ['{"input":{"of":"a"},"tool":"ls"}', "x"],
    ['{"input":{},"tool":"ls"}', ["y", ...said].join("\n\n")],
  ]);
  expect(figures.left_out).toEqual({ reasoning: 1, text_beside_call: 1 });
});

test("tags that hold no JSON stay a text, which any turn answers", async () => {
  const value = inTags("tool_call", "{'name': 'ls'}");
  const conversations = [
    { from: "human", value: "Go." },
    { from: "gpt", value },
    { from: "tool", value: "x" },
  ];
  const { samples } = await importText(JSON.stringify({ conversations }));
  expect(samples).toMatchObject([{ interaction: { action: value }, next_state: "x" }]);
});
