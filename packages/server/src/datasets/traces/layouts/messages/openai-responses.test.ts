import { expect, test } from "bun:test";
import { importText } from "../../import-text.fixture.ts";

const user = { role: "user", content: "Find the key." };
const items = [
  { type: "reasoning", summary: [{ type: "summary_text", text: "The drawer?" }] },
  { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look." }] },
  { type: "function_call", call_id: "c1", name: "shell", arguments: '{"cmd":"ls drawer"}' },
  { type: "custom_tool_call", call_id: "c2", name: "apply_patch", input: "*** Begin" },
  { type: "web_search_call", id: "ws", status: "completed" },
];
const outputs = [
  { type: "function_call_output", call_id: "c1", output: "key.txt" },
  { type: "custom_tool_call_output", call_id: "c2", output: [{ type: "input_text", text: "Done" }] },
];
const samples = [
  {
    context: { task_context: "Find the key." },
    interaction: { state: "Find the key.", action: '{"input":{"cmd":"ls drawer"},"tool":"shell"}' },
    next_state: "key.txt",
  },
  {
    interaction: { state: "key.txt", action: '{"input":"*** Begin","tool":"apply_patch"}' },
    next_state: "Done",
  },
];

test.each([
  ["a request", { id: "r1", input: [user, ...items, ...outputs], instructions: "Be brief.", model: "m" }],
  [
    "a response",
    {
      id: "r1",
      input: "Find the key.",
      output: [...items, ...outputs],
      instructions: "Be brief.",
      model: "m",
    },
  ],
])("%s is a trajectory, and its items between two answers are one turn", async (_, value) => {
  const told = await importText(JSON.stringify(value));
  expect(told.samples).toMatchObject(samples);
  expect(told.samples[0]).toMatchObject({
    trajectory_id: "r1",
    context: { domain_knowledge: "Be brief." },
    tags: { model: "m", source: "openai-responses" },
  });
  expect(told.figures.left_out).toEqual({ other_event: 1, reasoning: 1, text_beside_call: 1 });
});

test("items by themselves are one conversation", async () => {
  const told = await importText(JSON.stringify([user, ...items, ...outputs]), { name: "run-1.json" });
  expect(told.samples).toMatchObject(samples);
  expect(told.figures.files).toMatchObject([{ format: "openai-responses" }]);
  expect(told.samples[0]?.trajectory_id).toBe("run-1");
});
