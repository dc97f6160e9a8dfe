import { expect, test } from "bun:test";
import { importText } from "./import-text.fixture.ts";

/** A trajectory of one call. */
const traceOf = (input: object, content: unknown, more: object = {}) => ({
  messages: [
    { role: "user", content: "Go." },
    { role: "assistant", tool_calls: [{ id: "a", function: { name: "f", arguments: input } }] },
    { role: "tool", tool_call_id: "a", content },
  ],
  ...more,
});

test("NUL characters and lone surrogates are mended wherever they are, and counted once", async () => {
  const trace = traceOf(
    { "k\0": "\ud800", same: "x" },
    { text: "\0" },
    { id: "t\0", tools: [{ name: "f\0" }] },
  );
  trace.messages.unshift({ role: "user", content: "Hurry\0." });
  const { samples, figures } = await importText(JSON.stringify(trace));
  expect(samples).toMatchObject([
    {
      trajectory_id: "t",
      context: { task_context: "Hurry.", tool_schemas: '[{"name":"f"}]' },
      interaction: { action: '{"input":{"k":"\ufffd","same":"x"},"tool":"f"}' },
      next_state: '{"text":""}',
    },
  ]);
  expect(figures.repaired).toBe(6);
});

test("a text over 4 MiB is a fault, in the context, too; and so are more than 10,000 steps", async () => {
  const long = "\u00e9".repeat(2 * 1024 * 1024);
  const [call, answer] = traceOf({}, "x").messages.slice(1);
  const steps = (count: number) => Array.from({ length: count }, () => [call, answer]).flat();
  const lines = [
    traceOf({}, long),
    traceOf({}, `${long}x`),
    { messages: [{ role: "system", content: `${long}x` }, call, answer] },
    { messages: steps(10_000) },
    { messages: steps(10_001) },
    traceOf({}, "x"),
  ];
  const { samples, figures } = await importText(lines.map((one) => JSON.stringify(one)).join("\n"), {
    skipsFaults: true,
  });
  expect(samples.length).toBe(10_002);
  expect(figures.faults.map(({ loc, msg }) => [loc[2], msg])).toEqual([
    [2, "A text of step 0 is longer than 4194304 bytes"],
    [3, "A text of its context is longer than 4194304 bytes"],
    [5, "The trajectory has more than 10000 steps"],
  ]);
});
