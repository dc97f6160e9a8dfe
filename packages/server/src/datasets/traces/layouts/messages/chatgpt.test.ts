import { expect, test } from "bun:test";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import ZipStream from "zip-stream";
import { importText } from "../../import-text.fixture.ts";

/** A node of an export, with its parent. */
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
    // The answer was regenerated.
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

async function zipOf(files: Record<string, string | Buffer>): Promise<Uint8Array> {
  const zip = new ZipStream();
  const bytes = Array.fromAsync(zip);
  for (const [name, content] of Object.entries(files))
    await promisify(zip.entry.bind(zip))(Buffer.from(content), { name });
  zip.finish();
  return Buffer.concat(await bytes);
}

test("of an export's zip the conversations are read, whatever else is in it, and what is left out is told", async () => {
  const conversations = JSON.stringify([conversation]);
  const others = {
    "user.json": '{"id":"user-1","email":"a@example.com"}',
    "chat.html": "<html>",
    "export.log": "[INFO] 12 files\n",
    "__MACOSX/._conversations.json": "\0\u0005\u0016\u0007",
  };
  for (const packed of [
    { "conversations.json": conversations },
    { "conversations.txt": conversations },
    { "conversations.json.gz": gzipSync(conversations) },
  ]) {
    const { samples, figures, warnings } = await importText(await zipOf({ ...others, ...packed }));
    expect([samples.length, figures.format, figures.skipped]).toEqual([1, "chatgpt", 0]);
    expect(warnings).toEqual(["Left out, of no known format: chat.html, export.log, user.json."]);
  }
  const unknown = importText(await zipOf(others));
  expect(unknown).rejects.toMatchObject({ faults: [{ type: "unrecognised_layout", file: "chat.html" }] });
});

test("what is not JSON is refused with what its tools can write", () => {
  for (const file of ["<html>\n</html>", "a,b\n1,2\n", Buffer.from("\x80\x04\x95.\n.", "latin1")])
    expect(importText(file)).rejects.toThrow("both can write ATIF or OpenTelemetry");
  expect(importText("[1,2]")).rejects.toThrow("No known format: it has no JSON object");
  expect(importText('{"messages": [')).rejects.toThrow("The JSON is cut off");
});
