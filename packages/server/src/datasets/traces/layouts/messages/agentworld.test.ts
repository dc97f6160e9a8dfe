import { expect, test } from "bun:test";
import { readParts } from "../../documents/documents.ts";
import { TraceImport } from "../../import.ts";
import { ownLines } from "../../import-options.ts";
import { importText } from "../../import-text.fixture.ts";

const line = {
  task: "agentworld/mcp",
  id: 145256090131919,
  prompt: ["### Turn 1\nls", "### Turn 2\ncat key.txt", "### Turn 3\nrm key.txt"],
  response: ["key.txt", "4711", "gone"],
  current_prompt: "### Turn 2\ncat key.txt",
  system_str: "You are a terminal.",
  turn_idx: 2,
  total_turns: 3,
};
const read = (lines: readonly object[], options = {}) =>
  importText(lines.map((one) => JSON.stringify(one)).join("\n"), options);

test("a line is a sample with the turns before it, and lines of one id are a trajectory", async () => {
  const { samples, figures } = await read([{ ...line, task: "mcp", turn_idx: 1, system_str: "" }, line]);
  expect(samples).toEqual([
    {
      trajectory_id: "145256090131919",
      step: 0,
      messages: [{ role: "user", content: "### Turn 1\nls" }],
      next_state: "key.txt",
      tags: { source: "agentworld", task: "mcp" },
    },
    {
      trajectory_id: "145256090131919",
      step: 1,
      messages: [
        { role: "system", content: "You are a terminal." },
        { role: "user", content: "### Turn 1\nls" },
        { role: "assistant", content: "key.txt" },
        { role: "user", content: "### Turn 2\ncat key.txt" },
      ],
      next_state: "4711",
      tags: { source: "agentworld", task: "mcp" },
    },
  ]);
  expect(figures).toMatchObject({ format: "agentworld", left_out: {} });
});

test("texts stand for lists of one turn, and a line without an id is named after its number", async () => {
  const { samples } = await read([
    { ...line, id: undefined, task: null, prompt: "ls", response: "x", turn_idx: 1 },
  ]);
  expect(samples).toMatchObject([
    { trajectory_id: "line-1", next_state: "x", tags: { source: "agentworld" } },
  ]);
});

test("lines without ids of several files are numbered, and a long text is a fault", async () => {
  const traces = new TraceImport({ ...ownLines.options, format: undefined });
  const ids: string[] = [];
  const file = { ...line, id: undefined, response: ["x", "x".repeat(5_000_000)] };
  const text = [1, 2].map((turn_idx) => JSON.stringify({ ...file, turn_idx })).join("\n");
  for (const name of ["a.jsonl", "b.jsonl"])
    for await (const samples of traces.read(name, readParts(new Blob([text]).stream(), { maxBytes: 1e9 })))
      ids.push(...samples.map(({ sample }) => sample.trajectory_id));
  expect(ids).toEqual(["line-1", "line-1/2"]);
  expect(traces.figures().faults.map(({ msg }) => msg)).toEqual([
    "A text of step 1 is longer than 4194304 bytes",
    "A text of step 1 is longer than 4194304 bytes",
  ]);
});

const faults: [string, object, (string | number)[]][] = [
  ["a turn that is not there", { turn_idx: 4 }, ["prompt", 3]],
  ["a turn that has no answer", { turn_idx: 3, response: ["a", "b"] }, ["response", 2]],
  ["turns from 0", { turn_idx: 0 }, ["turn_idx"]],
  ["a prompt that is a number", { prompt: [1] }, ["prompt", 0]],
  ["no answers", { response: undefined }, ["response"]],
];
for (const [name, faulty, path] of faults)
  test(`${name} is a fault`, async () => {
    const { figures } = await read([line, { ...line, ...faulty }], { skipsFaults: true });
    expect(figures.faults.map(({ loc }) => loc)).toEqual([["body", "line", 2, ...path]]);
  });
