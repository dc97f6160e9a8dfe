import { expect, test } from "bun:test";
import { expectLinear } from "../../../test/support/expect-linear.ts";
import { readMdlmText, readPythonJson } from "./python-values.ts";

test.each([
  ["<think>a</think>b<think>c</think>d", "bd"],
  ["a</think>b", "ab"],
  ["<think>a", "a"],
  ["a <tool_response> b </tool_response> c", "b"],
  ["<tool_response>a", "a"],
  ["<think>a<tool_response>b</think>c</tool_response>", "c"],
])("%j is compared as %j", (original, text) => {
  expect(readMdlmText(original).text).toBe(text);
});

test("a long hostile text is read in time that grows with its length", () => {
  for (const piece of [
    "<think>",
    "</think>",
    "<tool_response>",
    "</tool_response>",
    "<think ",
    "<think\x1c",
  ]) {
    expectLinear((times) => readMdlmText(piece.repeat(times)), 50_000);
  }
  expectLinear((length) => readMdlmText(`<think${" ".repeat(length)}`), 1_000_000);
});

test("integers keep their digits and are told apart from other numbers", () => {
  expect(readPythonJson("[1, 1.0, -0, -0.0, 1e2, 12345678901234567890]")).toEqual([
    1n,
    1,
    0n,
    -0,
    100,
    12345678901234567890n,
  ]);
});

test("Python's constants are read, but not in a text or as part of a word or number", () => {
  expect(readPythonJson("[NaN, Infinity, -Infinity]")).toEqual([Number.NaN, Infinity, -Infinity]);
  expect(readPythonJson('{"NaN": "\\"NaN, -Infinity"}')).toEqual({ NaN: '"NaN, -Infinity' });
  for (const text of ["-NaN", "+Infinity", "--Infinity", "NaN5", "1NaN", "{NaN: 1}", "[NaN", '"NaN']) {
    expect([text, readPythonJson(text)]).toEqual([text, undefined]);
  }
});

test("what Python refuses is not read", () => {
  for (const text of ["", "[1,]", "01", "\ufeff{}", '"a\tb"', "9".repeat(4_301), "[".repeat(2_000)]) {
    expect(readPythonJson(text)).toBeUndefined();
  }
  expect(readPythonJson(`-${"9".repeat(4_300)}`)).toBe(-(10n ** 4_300n - 1n));
});

test("a long hostile text is read in time that grows with its length", () => {
  for (const text of [
    (times: number) => 'NaN"\\'.repeat(times),
    (times: number) => `[${'NaN,"\\"",'.repeat(times)}1]`,
    (times: number) => "NaN ".repeat(times),
  ])
    expectLinear((times) => readPythonJson(text(times)), 150_000);
});
