import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { collectSpans, type Kept } from "./span-turns.ts";

const directory = mkdtempSync(join(tmpdir(), "presage-test-"));
const before = process.env.TMPDIR;
beforeAll(() => {
  process.env.TMPDIR = directory;
});
afterAll(() => {
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  rmSync(directory, { recursive: true });
});
const files = () => readdirSync(directory).length;

test("spans come by trace, sorted by start, from memory and from a file, which has no name", () => {
  for (const limits of [{}, { heldBytes: 0 }, { heldBytes: 64 }, { heldBytes: 1000 }]) {
    const spans = collectSpans<Kept & { text: string }>(limits);
    const all = Array.from({ length: 30 }, (_, number) => ({
      trace: `t${number % 3}`,
      start: String(50 - (number % 7)),
      text: `é${number}`.repeat(number),
    }));
    for (const { trace, ...item } of all) spans.add([trace], item);
    expect(files()).toBe(0);
    const expected = ["t0", "t1", "t2"].map((trace) =>
      all
        .filter((one) => one.trace === trace)
        .map(({ start, text }) => ({ start, text }))
        .sort((one, other) => Number(one.start) - Number(other.start)),
    );
    expect([...spans.release()]).toEqual(expected);
    spans.close();
    spans.close();
  }
});

test("of a trace that is too long nothing is kept, which is told once", () => {
  const spans = collectSpans<Kept>({ traceBytes: 30 });
  const add = (start: string, key: string) => spans.add([key], { start });
  const added = ["a", "b", "a", "a", "a"].map((key, index) => add(String(index), key));
  expect(added).toEqual([true, true, true, false, true]);
  expect([...spans.release()]).toEqual([[{ start: "1" }]]);
});

test("spans that a later one joins come together, at the place of the first", () => {
  const spans = collectSpans();
  const add = (start: string, ...keys: string[]) => spans.add(keys, { start });
  add("1", "a");
  add("2", "b");
  add("5", "c", "x");
  add("4", "a", "x");
  add("3", "c");
  expect([...spans.release()].map((items) => items.map(({ start }) => start))).toEqual([
    ["1", "3", "4", "5"],
    ["2"],
  ]);
});
