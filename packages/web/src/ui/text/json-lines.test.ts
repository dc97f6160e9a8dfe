import { expect, test } from "bun:test";
import { findJson } from "./find-json.ts";
import { jsonLines } from "./json-lines.ts";

function laidOut(text: string, isCanonical = false): string | undefined {
  const json = findJson(text);
  return (
    json &&
    jsonLines(json, isCanonical)
      .map((line) => line.text)
      .join("\n")
  );
}

test("JSON is laid out as JSON.stringify would, however it was written", () => {
  const value = { b: [1, { c: 'x, {y}: \\ "z"' }, [], {}], a: null, "": true };
  expect(laidOut(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
  expect(laidOut(` \n${JSON.stringify(value, null, 7)}`)).toBe(JSON.stringify(value, null, 2));
});

test("numbers keep all their digits, keys their order and their doubles", () => {
  expect(laidOut('{"2":9007199254740993,"1":1.50,"2":1e999}')).toBe(
    '{\n  "2": 9007199254740993,\n  "1": 1.50,\n  "2": 1e999\n}',
  );
});

test("in canonical form only what differs in meaning differs", () => {
  const one = '{"b":1.0,"a":"\\u0041","n":12345678901234567890}';
  const other = '{"n":12345678901234567890, "a":"A", "b":1}';
  expect(laidOut(one, true)).toBe(laidOut(other, true) ?? "");
  expect(laidOut(one, true)).not.toBe(
    laidOut(other.replace("890}", "891}").replace("890,", "891,"), true) ?? "",
  );
});

test("the tags of a tool's response are taken off", () => {
  expect(laidOut('<tool_response>\n{"a":1}\n</tool_response>\n')).toBe('{\n  "a": 1\n}');
});

test("broken JSON, a single value and a bottomless pit are no JSON to lay out", () => {
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
