import { expect, test } from "bun:test";
import { findJson, formatJson, jsonLines } from "./json-lines.ts";

function canonical(text: string): string {
  const json = findJson(text);
  return json
    ? jsonLines(json, true)
        .map((line) => line.text)
        .join("\n")
    : "";
}

test("JSON is formatted like JSON.stringify does, however it was written", () => {
  const value = { b: [1, { c: 'x, {y}: \\ "z"' }, [], {}], a: null, "": true };
  expect(formatJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
  expect(formatJson(` \n${JSON.stringify(value, null, 7)}`)).toBe(JSON.stringify(value, null, 2));
});

test("numbers keep all digits, keys keep their order and duplicates", () => {
  expect(formatJson('{"2":9007199254740993,"1":1.50,"2":1e999}')).toBe(
    '{\n  "2": 9007199254740993,\n  "1": 1.50,\n  "2": 1e999\n}',
  );
});

test("in canonical form, only differences in meaning remain", () => {
  const one = '{"b":1.0,"a":"\\u0041","n":12345678901234567890}';
  const other = '{"n":12345678901234567890, "a":"A", "b":1}';
  expect(canonical(one)).toBe(canonical(other));
  expect(canonical(one)).not.toBe(canonical(other.replace("890}", "891}").replace("890,", "891,")));
});

test("the tags of a tool response are removed", () => {
  expect(formatJson('<tool_response>\n{"a":1}\n</tool_response>\n')).toBe('{\n  "a": 1\n}');
});

test("invalid JSON, scalars and extreme nesting are not formatted", () => {
  for (const text of ['{"a":1', "{'a':1}", "12", '"a"', "", "[".repeat(200) + "]".repeat(200)]) {
    expect(findJson(text)).toBeUndefined();
  }
});

test("a line knows its path", () => {
  const json = findJson('{"rooms":[{"door":"open"}],"a b":1}');
  expect(json && jsonLines(json).map(({ path }) => path)).toEqual([
    "",
    "rooms",
    "rooms[0]",
    "rooms[0].door",
    "rooms[0]",
    "rooms",
    '["a b"]',
    "",
  ]);
});
