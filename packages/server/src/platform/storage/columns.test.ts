import { expect, test } from "bun:test";
import { sampleKey, toStorableText, verbOf } from "./columns.ts";

test("keys compare as people expect: numbers by value, also within texts", () => {
  const ordered = [
    Number.MIN_SAFE_INTEGER,
    -100,
    -10,
    -9,
    "-1",
    0,
    1,
    9,
    10,
    Number.MAX_SAFE_INTEGER,
    "run-2/9",
    "run-2/09",
    "run-2/10",
    "run-10/1",
    "z",
    "好",
    "🙂",
  ];
  const bytes = ordered.map((id) => Buffer.from(sampleKey(id)));
  expect(bytes.toSorted(Buffer.compare)).toEqual(bytes);
});

test("a number and its digits have one key; texts that differ have different ones", () => {
  for (const id of [7, 0, -5, -10, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) {
    expect(sampleKey(String(id))).toBe(sampleKey(id));
  }
  const ids = [
    "7",
    "07",
    "007",
    "00000000000000007",
    "7.0",
    "70",
    "0",
    "00",
    "",
    "-7",
    "-07",
    "--7",
    "-7a",
    "a7",
    "a07",
  ];
  expect(new Set(ids.map(sampleKey)).size).toBe(ids.length);
});

test("a key is at most seven times as long as its text, which an index can hold", () => {
  for (const id of ["1a".repeat(100), "1🙂".repeat(100), "9".repeat(200)]) {
    expect(Buffer.byteLength(sampleKey(id))).toBeLessThan(2_400);
  }
});

test("NUL and halves of surrogate pairs are replaced, also where the text is cut", () => {
  expect(toStorableText("a\0b\ud83d🙂")).toBe("a\ufffdb\ufffd🙂");
  expect(toStorableText("a🙂b", 2)).toBe("a\ufffd");
  expect(toStorableText("a🙂b", 4)).toBe("a🙂b");
});

test("an action's verb is its first word, or the tool that it calls", () => {
  const cases: [action: string, verb: string][] = [
    ["Open the door", "open"],
    ["  look", "look"],
    ["", ""],
    ['{"name": "Search", "arguments": {}}', "search"],
    ['{"tool": "act", "input": {"action": "open"}}', "act"],
    ['[{"function": {"name": "click"}}, {"name": "type"}]', "click"],
    ['{"type": "function", "function": "click"}', "click"],
    ['{"x": 1}', '{"x":'],
    ["[door] open", "[door]"],
  ];
  for (const [action, verb] of cases) expect(verbOf(action)).toBe(verb);
});
