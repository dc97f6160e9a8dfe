import { expect, test } from "bun:test";
import { importText } from "../../import-text.fixture.ts";

let second = 0;
const line = (type: string, payload: object) =>
  JSON.stringify({ timestamp: `2026-01-01T10:00:${String(second++).padStart(2, "0")}.000Z`, type, payload });
const said = (role: string, type: string, text: string) =>
  line("response_item", { type: "message", role, content: [{ type, text }] });
const session = [
  line("session_meta", { id: "s1", originator: "codex_cli_rs", base_instructions: { text: "Be brief." } }),
  said("user", "input_text", "<environment_context>\n  <cwd>/tmp</cwd>\n</environment_context>"),
  said("user", "input_text", "Find the key."),
  line("event_msg", { type: "user_message", message: "Find the key." }),
  line("turn_context", { model: "gpt-test" }),
  line("response_item", { type: "reasoning", summary: [{ type: "summary_text", text: "The drawer?" }] }),
  line("event_msg", { type: "agent_reasoning", text: "The drawer?" }),
  said("assistant", "output_text", "I look."),
  line("response_item", { type: "function_call", name: "shell", arguments: '{"cmd":"ls"}', call_id: "c1" }),
  line("event_msg", {
    type: "token_count",
    info: { last_token_usage: { input_tokens: 12, cached_input_tokens: 3, output_tokens: 5 } },
  }),
  line("response_item", { type: "function_call_output", call_id: "c1", output: "key.txt" }),
  line("response_item", { type: "of_a_later_version", call_id: "c2" }),
  line("of_a_later_version", { id: "s0" }),
  line("session_meta", { id: "s0" }),
  said("assistant", "output_text", "It is in the drawer."),
].join("\n");

test("a session's items are turns, with the time of the answer, the model and the tokens of the call", async () => {
  const { samples, figures } = await importText(session);
  expect(samples).toEqual([
    {
      trajectory_id: "s1",
      step: 0,
      context: { task_context: "Find the key.", domain_knowledge: "Be brief." },
      interaction: {
        state: "<environment_context>\n  <cwd>/tmp</cwd>\n</environment_context>\n\nFind the key.",
        action: '{"input":{"cmd":"ls"},"tool":"shell"}',
      },
      next_state: "key.txt",
      at: "2026-01-01T10:00:10.000Z",
      usage: { prompt_tokens: 12, completion_tokens: 5, cached_tokens: 3 },
      tags: { source: "codex", model: "gpt-test", agent: "codex_cli_rs" },
    },
  ]);
  expect(figures.left_out).toEqual({
    last_message_of_agent: 1,
    other_event: 2,
    reasoning: 1,
    text_beside_call: 1,
  });
});

test("events of codex exec are turns, whose calls have their answers", async () => {
  const completed = (item: object) => ({ type: "item.completed", item });
  const events = [
    { type: "thread.started", thread_id: "t1" },
    { type: "turn.started" },
    completed({ id: "i0", type: "reasoning", text: "The drawer?" }),
    {
      type: "item.started",
      item: { id: "i1", type: "command_execution", command: "ls", aggregated_output: "" },
    },
    completed({
      id: "i1",
      type: "command_execution",
      command: "ls",
      aggregated_output: "No.",
      status: "failed",
    }),
    completed({
      ...{ id: "i2", type: "mcp_tool_call", server: "desk", tool: "open", arguments: { of: 1 } },
      result: { content: [{ type: "text", text: "key.txt" }] },
    }),
    completed({ id: "i3", type: "todo_list", items: [] }),
    completed({ id: "i4", type: "agent_message", text: "It is in the desk." }),
    { type: "turn.completed", usage: { input_tokens: 12, output_tokens: 5 } },
  ];
  const { samples, figures } = await importText(events.map((event) => JSON.stringify(event)).join("\n"));
  expect(figures.files).toMatchObject([{ format: "codex" }]);
  expect(samples).toMatchObject([
    {
      ...{ trajectory_id: "t1", next_state: "No.", tags: { error: "true" } },
      interaction: { state: "(start)", action: '{"input":{"command":"ls"},"tool":"command_execution"}' },
    },
    { interaction: { state: "No.", action: '{"input":{"of":1},"tool":"desk.open"}' }, next_state: "key.txt" },
  ]);
  expect(figures.left_out).toEqual({ last_message_of_agent: 1, other_event: 1, reasoning: 1 });
});
