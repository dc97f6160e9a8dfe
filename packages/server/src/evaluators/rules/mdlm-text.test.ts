import { expect, test } from "bun:test";
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

test("a long hostile text is read in bounded time", () => {
  const startedAtMs = performance.now();
  for (const piece of [
    "<think>",
    "</think>",
    "<tool_response>",
    "</tool_response>",
    "<think ",
    "<think\x1c",
  ]) {
    readMdlmText(piece.repeat(100_000));
  }
  readMdlmText(`<think${" ".repeat(2_000_000)}`);
  expect(performance.now() - startedAtMs).toBeLessThan(10_000);
});
