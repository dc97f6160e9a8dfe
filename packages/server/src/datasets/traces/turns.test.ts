import { expect, test } from "bun:test";
import { importText } from "./import-text.fixture.ts";

const call = (id: string, name: string, input: object) => ({
  id,
  type: "function",
  function: { name, arguments: JSON.stringify(input) },
});
const lineOf = (messages: object[], more: object = {}) => JSON.stringify({ id: "t", messages, ...more });

/** State, action and next state of each sample. */
async function stepsIn(messages: object[], options = {}) {
  const { samples, figures } = await importText(lineOf(messages), options);
  return {
    steps: samples.map(({ interaction, next_state }) => [
      interaction?.state,
      interaction?.action,
      next_state,
    ]),
    leftOut: figures.left_out,
  };
}

test("each call of a turn is a step, whose state is the answer before it, and texts belong to the last answer", async () => {
  const { steps, leftOut } = await stepsIn([
    { role: "system", content: "Be brief." },
    { role: "user", content: "Find the key." },
    {
      role: "assistant",
      content: "I look.",
      tool_calls: [call("a", "ls", { dir: "drawer", all: true }), call("b", "pwd", {})],
    },
    { role: "tool", tool_call_id: "b", content: "/home" },
    { role: "tool", tool_call_id: "a", content: "" },
    { role: "user", content: "Hurry." },
    { role: "assistant", content: "Thought: I ask.\nAction: where?\nAction: where is it?\n" },
    { role: "user", content: "On the shelf." },
    { role: "assistant", content: "Done." },
  ]);
  expect(steps).toEqual([
    ["Find the key.", '{"input":{"all":true,"dir":"drawer"},"tool":"ls"}', ""],
    ["(no output)", '{"input":{},"tool":"pwd"}', "/home\n\nHurry."],
    ["/home\n\nHurry.", "where is it?", "On the shelf."],
  ]);
  expect(leftOut).toEqual({ last_message_of_agent: 1, text_beside_call: 1 });
});

test("calls of one id are answered in order, and an id may be used again in a later turn", async () => {
  const { steps, leftOut } = await stepsIn([
    { role: "assistant", tool_calls: [call("a", "ls", {}), call("a", "pwd", {})] },
    { role: "tool", tool_call_id: "a", content: "one" },
    { role: "tool", tool_call_id: "a", content: "two" },
    { role: "assistant", tool_calls: [call("a", "ls", {})] },
    { role: "tool", tool_call_id: "a", content: "three" },
  ]);
  expect(steps.map(([, , next]) => next)).toEqual(["one", "two", "three"]);
  expect(leftOut).toEqual({});
});

test("many calls without ids in one turn take linear time", async () => {
  const tool_calls = Array.from({ length: 60_000 }, () => ({ function: { name: "ls", arguments: "{}" } }));
  const startedAt = process.cpuUsage().user;
  const read = stepsIn([
    { role: "assistant", tool_calls },
    ...tool_calls.map(() => ({ role: "tool", content: "" })),
  ]);
  await expect(read).rejects.toThrow("more than 10000 steps");
  expect(process.cpuUsage().user - startedAt).toBeLessThan(4_000_000);
});

test("calls and answers may have numbers as ids", async () => {
  const { steps } = await stepsIn([
    { role: "assistant", tool_calls: [1, 2].map((id) => ({ ...call("", `tool${id}`, {}), id })) },
    { role: "tool", tool_call_id: 2, content: "two" },
    { role: "tool", tool_call_id: 1, content: "one" },
  ]);
  expect(steps.map(([, , next]) => next)).toEqual(["one", "two"]);
});

test("kept thoughts are the first 256 characters of a step's, and others are counted", async () => {
  const thought = "\u{1f511}".repeat(300);
  const messages = [
    { role: "assistant", content: null, reasoning_content: "Nothing is done." },
    { role: "assistant", reasoning_content: thought, tool_calls: [call("a", "ls", {})] },
    { role: "tool", tool_call_id: "a", content: "x" },
  ];
  const { samples, figures } = await importText(lineOf(messages), { keepsThoughts: true });
  expect(samples.map(({ tags }) => tags?.thought)).toEqual(["\u{1f511}".repeat(256)]);
  expect(figures.left_out).toEqual({ reasoning: 1 });
});

test("calls without answers and answers without calls are counted", async () => {
  const { steps, leftOut } = await stepsIn([
    { role: "assistant", tool_calls: [call("a", "ls", {}), call("b", "pwd", {})] },
    { role: "tool", tool_call_id: "b", content: "/home" },
    { role: "tool", tool_call_id: "z", content: "lost" },
  ]);
  expect(steps).toEqual([["(start)", '{"input":{},"tool":"pwd"}', "/home"]]);
  expect(leftOut).toEqual({ answer_without_call: 1, call_without_answer: 1 });
});

test("arguments that are nested deeper than a document may be stay a text", async () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  const { steps } = await stepsIn(
    [200, 201, 20_000].flatMap((levels) => [
      { role: "assistant", tool_calls: [{ id: "a", function: { name: "f", arguments: nested(levels) } }] },
      { role: "tool", tool_call_id: "a", content: "x" },
    ]),
  );
  expect(steps.map(([, action]) => action?.slice(0, 11))).toEqual([
    '{"input":[[',
    '{"input":"[',
    '{"input":"[',
  ]);
});

test("with step=turn the calls of a turn are one action", async () => {
  const messages = [
    { role: "user", content: "Go." },
    { role: "assistant", tool_calls: [call("a", "ls", {}), call("b", "pwd", {})] },
    { role: "tool", tool_call_id: "a", content: "x" },
    { role: "tool", tool_call_id: "b", content: "/home" },
  ];
  const { steps } = await stepsIn(messages, { step: "turn" });
  expect(steps).toEqual([["Go.", '[{"input":{},"tool":"ls"},{"input":{},"tool":"pwd"}]', "x\n\n/home"]]);
});

test("the context has task, system text and tools, and the last sample the reward", async () => {
  const { samples } = await importText(
    lineOf(
      [
        { role: "developer", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "See " },
            { type: "image_url", image_url: { url: "x" } },
          ],
        },
        { role: "assistant", tool_calls: [call("a", "ls", {})] },
        { role: "tool", tool_call_id: "a", content: "x" },
      ],
      { tools: [{ type: "function", function: { name: "ls" } }], success: true },
    ),
  );
  expect(samples).toEqual([
    {
      trajectory_id: "t",
      step: 0,
      context: {
        task_context: "See [image]",
        domain_knowledge: "Be brief.",
        tool_schemas: '[{"type":"function","function":{"name":"ls"}}]',
      },
      interaction: { state: "See [image]", action: '{"input":{},"tool":"ls"}' },
      next_state: "x",
      reward: 1,
      tags: { source: "openai-chat" },
    },
  ]);
});

test("a trajectory whose id occurs again is numbered, and a long id is cut", async () => {
  const messages = [
    { role: "assistant", tool_calls: [call("a", "ls", {})] },
    { role: "tool", tool_call_id: "a", content: "x" },
  ];
  const long = "x".repeat(200);
  const longest = "y".repeat(180);
  const ids = ["t", "t", "t/3", "t", long, longest, longest];
  const { samples } = await importText(ids.map((id) => JSON.stringify({ id, messages })).join("\n"));
  const digest = (id: string) => new Bun.CryptoHasher("sha256").update(id).digest("hex").slice(0, 16);
  expect(samples.map(({ trajectory_id }) => trajectory_id)).toEqual([
    ...["t", "t/2", "t/3", "t/4", `${"x".repeat(140)}${digest(long)}`],
    ...[longest, `${"y".repeat(140)}${digest(`${longest}/2`)}`],
  ]);
});

test("the file's name without its extension is the id where a layout has none", async () => {
  const conversations = [
    { from: "gpt", value: "look" },
    { from: "human", value: "dark" },
  ];
  const idOf = async (name: string) =>
    (await importText(JSON.stringify({ conversations }), { name })).samples[0]?.trajectory_id;
  const names = ["runs/a.jsonl", "b.v2.traj.gz", "c.txt", "model-4.5", ".hidden"];
  expect(await Promise.all(names.map(idOf))).toEqual(["a", "b.v2", "c", "model-4.5", ".hidden"]);
  const many = Array.from({ length: 50_000 }, () => JSON.stringify({ conversations })).join("\n");
  const { samples } = await importText(many, { name: "a.jsonl" });
  expect(samples.at(-1)?.trajectory_id).toBe("a/50000");
});
