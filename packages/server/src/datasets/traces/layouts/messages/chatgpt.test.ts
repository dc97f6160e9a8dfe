import { expect, test } from "bun:test";
import { importText } from "../../import-text.fixture.ts";

/** A node of an export, after the one before it. */
const node = (id: string, parent: string | null, role: string, content: object, more: object = {}) => ({
  [id]: { id, parent, children: [], message: { id, author: { role }, content, recipient: "all", ...more } },
});
const text = (...parts: unknown[]) => ({ content_type: "text", parts });
const conversation = {
  ...{ title: "The key", create_time: 1767225600, conversation_id: "c1", current_node: "b4" },
  mapping: {
    root: { id: "root", message: null, parent: null, children: ["s"] },
    ...node("s", "root", "system", text("")),
    ...node("u", "s", "user", text("Find the key.")),
    ...node("a1", "u", "assistant", text("I do not know.")),
    // The answer was made again.
    ...node("b0", "u", "assistant", { content_type: "thoughts", thoughts: [{ content: "A drawer?" }] }),
    ...node(
      ...(["b1", "b0", "assistant", { content_type: "code", text: "ls()" }] as const),
      ...[{ recipient: "python", metadata: { model_slug: "gpt-test" }, create_time: 1767225601.5 }],
    ),
    ...node("b2", "b1", "tool", { content_type: "execution_output", text: "key.txt" }),
    ...node("b3", "b2", "tool", text({ content_type: "image_asset_pointer", asset_pointer: "x" })),
    ...node("b4", "b3", "assistant", text("It is in the drawer.")),
  },
};

test("the branch that is shown becomes a trajectory, with calls by their recipients", async () => {
  const other = { ...conversation, conversation_id: "c2", current_node: "a1" };
  const { samples, figures } = await importText(JSON.stringify([conversation, other]));
  expect(samples).toMatchObject([
    {
      trajectory_id: "c1",
      context: { task_context: "Find the key." },
      interaction: { state: "Find the key.", action: '{"input":"ls()","tool":"python"}' },
      next_state: "key.txt\n\n[image]",
      tags: { source: "chatgpt", model: "gpt-test" },
    },
  ]);
  expect(figures.left_out).toMatchObject({ branch: 6, media: 1, reasoning: 1 });
});

test("a message without an author is a fault of its conversation", async () => {
  const mapping = { n: { id: "n", parent: null, message: { content: text("Hi.") } } };
  const { figures } = await importText(
    JSON.stringify([conversation, { ...conversation, mapping, current_node: "n" }]),
    { skipsFaults: true },
  );
  expect(figures.faults.map(({ loc }) => loc.slice(-4))).toEqual([["mapping", "n", "message", "author"]]);
});
