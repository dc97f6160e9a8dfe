import { expect, test } from "bun:test";
import { expectLinear } from "../../../test/support/expect-linear.ts";
import { readMdlmText } from "./python-values.ts";

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
