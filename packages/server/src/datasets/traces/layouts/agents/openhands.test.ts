import { expect, test } from "bun:test";
import { importText } from "../../import-text.fixture.ts";

/** As openhands-sdk 1.58.2 writes it with its test model, without its second tool. */
const lines = await Bun.file(new URL("openhands.fixture.jsonl", import.meta.url)).text();
const events: Record<string, unknown>[] = lines
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
const call = (tool: string, input: object) => JSON.stringify({ input, tool });

test("the events of a conversation: calls of one answer, errors, a question, the end", async () => {
  const { samples, figures } = await importText(lines, { name: "run.jsonl" });
  const first = "key.txt\nnails";
  const lost = "Tool 'lost' not found. Available: ['shell', 'finish']";
  const steps = [
    ["Find the key.", call("shell", { cmd: "ls drawer" }), first, 4],
    [first, call("shell", { cmd: "weigh" }), "12 g", 5],
    ["12 g", call("lost", { cmd: "x" }), lost, 7],
    [lost, call("shell", { cmd: "fail" }), "no such command", 9],
    ["no such command", "Which key?", "The small one.", 11],
    ["The small one.", call("finish", { message: "key.txt" }), "key.txt", 13],
  ] as const;
  const context = {
    task_context: "Find the key.",
    tool_schemas: JSON.stringify(events[0]?.tools),
    domain_knowledge: "Be brief.",
  };
  expect(samples).toEqual(
    steps.map(([state, action, next_state, event], step) => ({
      ...{ trajectory_id: "run", step, context, next_state },
      interaction: { state, action },
      at: `${events[event]?.timestamp}Z`,
      done: step === 5 ? true : undefined,
      tags: { source: "openhands", ...(step === 2 || step === 3 ? { error: "true" } : {}) },
    })),
  );
  expect(figures.left_out).toEqual({ reasoning: 1, text_beside_call: 1 });
  expect(figures.files).toMatchObject([{ recognised_by: "kind SystemPromptEvent and source" }]);
});

test("a zip of event files is one conversation, and its state tells the model", async () => {
  const zip = await Bun.file(new URL("openhands.fixture.zip", import.meta.url)).bytes();
  const { samples, figures } = await importText(zip, { name: "drawer.zip" });
  expect(samples.map((one) => [one.trajectory_id, one.next_state, one.tags?.model])).toEqual([
    ["drawer", "key.txt\nnails", "small"],
    ["drawer", "12 g", "small"],
  ]);
  expect(figures.files).toMatchObject([{ file: "drawer.zip", format: "openhands" }]);
});

const text = (text: string) => [{ type: "text", text }];
const user = { kind: "MessageEvent", source: "user", llm_message: { content: text("Go.") } };
const act = (id: string, parent_id?: string) => ({
  ...{
    kind: "ActionEvent",
    source: "agent",
    id,
    parent_id,
    tool_call: { id, name: "look", arguments: "{}" },
  },
});
const seen = (of: string, parent_id?: string) => ({
  ...{ kind: "ObservationEvent", source: "environment", id: `seen ${of}`, parent_id, tool_call_id: of },
  observation: { content: text(`${of} seen`) },
});

test("of branches the last one is read; what is no turn is counted", async () => {
  const { samples, figures } = await importText(
    JSON.stringify([
      { ...user, id: "u", extended_content: text("A rule.") },
      ...[act("a", "u"), seen("a", "a"), act("b", "u"), seen("b", "b")],
      { kind: "UserRejectObservation", source: "environment", tool_call_id: "c", rejection_reason: "No." },
      { kind: "Condensation", source: "environment", id: "x", parent_id: "seen b" },
      { kind: "ConversationStateUpdateEvent", source: "environment", key: "k", value: {} },
    ]),
  );
  expect(samples.map((one) => [one.trajectory_id, one.interaction?.state, one.next_state])).toEqual([
    ["line-1", "Go.", "b seen"],
  ]);
  expect(figures.left_out).toEqual({ branch: 3, other_event: 3 });
});

test("a run is done with the answer of finish, unless that is an error", async () => {
  const error = { kind: "AgentErrorEvent", source: "agent", tool_call_id: "a", error: "No message." };
  const finish = (id: string) => ({ ...act(id), tool_call: { id, name: "finish", arguments: "{}" } });
  const { samples } = await importText(
    JSON.stringify([user, finish("a"), error, act("b"), seen("b"), finish("c"), seen("c")]),
  );
  expect(samples.map(({ done }) => done)).toEqual([undefined, undefined, true]);
});

test("an answer is the call's that it names, and a rejection is an error", async () => {
  const reject = {
    kind: "UserRejectObservation",
    source: "environment",
    tool_call_id: "b",
    rejection_reason: "No.",
  };
  const { samples } = await importText(JSON.stringify([user, act("a"), act("b"), reject, seen("a")]));
  expect(samples.map((one) => [one.next_state, one.tags?.error])).toEqual([
    ["a seen", undefined],
    ["No.", "true"],
  ]);
});

test.each([
  [{ ...act("a"), tool_call: null }, ["tool_call"]],
  [{ ...act("a"), tool_call: { name: 4 } }, ["tool_call", "name"]],
  [{ ...seen("a"), observation: [] }, ["observation"]],
  [{ kind: "AgentErrorEvent", source: "agent", error: {} }, ["error"]],
  [{ ...user, llm_message: "Go." }, ["llm_message"]],
])("the fault of %j", async (event, path) => {
  await expect(importText(JSON.stringify([user, event]))).rejects.toMatchObject({
    faults: [{ line: 2, path }],
  });
});

test("values of other types are passed over, and a circle of parents ends", async () => {
  const odd = {
    id: 4,
    timestamp: {},
    parent_id: [],
    llm_response_id: 5,
    tool_call_id: 7,
    thinking_blocks: 1,
  };
  const many = [user, act("a", "seen a"), seen("a", "a")];
  expect((await importText(JSON.stringify(many.map((one) => ({ ...one, ...odd }))))).samples.length).toBe(1);
  expect((await importText(JSON.stringify(many))).samples.length).toBe(1);
});
