import { expect, test } from "bun:test";
import { contains } from "./contains.ts";
import { numeric } from "./numeric.ts";
import { regex } from "./regex.ts";
import { plainOutput, plainRange } from "./text.ts";

test.each([
  ["no tags at all", "The door is open.", "The door is open."],
  ["an empty output", "", ""],
  ["a think block before the answer", "<think>It was shut.</think>It is open.", "It is open."],
  ["an end whose start was in the prompt", "It was shut.</think>It is open.", "It is open."],
  ["a block that was cut off", "  <think>It was", ""],
  ["a second block right after the first", "<think>a</think>\n<think>b</think>c", "c"],
  ["a block that quotes the tag", "<think>say <think>?</think>yes", "yes"],
  [
    "a tag that the answer speaks of later",
    "The tag <think> opens a block.",
    "The tag <think> opens a block.",
  ],
  ["an answer that quotes the end tag", '<think>a</think>{"tag":"</think>"}', '{"tag":"</think>"}'],
  ["a tool's answer", '<tool_response>\n{"a":1}\n</tool_response>', '\n{"a":1}\n'],
  ["a tool's answer after thought", "<think>x</think>\n<tool_response>[]</tool_response>\n", "[]"],
  ["a tool's answer that was cut off", '<tool_response>{"a":', '{"a":'],
  ["nothing but the tags", "<tool_response></tool_response>", ""],
  ["text after a tool's answer", '<tool_response>{"a":1}</tool_response>\nI hope this helps.', '{"a":1}'],
  ["text around a tool's answer", "Here it is: <tool_response>[]</tool_response> Done.", "[]"],
  ["another answer after the first", "<tool_response>1</tool_response><tool_response>2</tool_response>", "1"],
  ["an end whose start was in the prompt", '{"a":1}</tool_response>', '{"a":1}'],
  ["such an end, and text after it", "[]</tool_response>\n<tool_response>{}</tool_response>", "[]"],
  ["such an end after thought", "<think>x</think>\n[1]\n</tool_response>\n", "\n[1]\n"],
  ["thought inside the tags", "<tool_response><think>x</think>[]</tool_response>", "[]"],
  ["a tag in the thought", "<think><tool_response>0</tool_response></think>1", "1"],
  [
    "a start tag that the answer speaks of later",
    "The tag <tool_response> opens an answer.",
    "The tag <tool_response> opens an answer.",
  ],
])("%s", (_name, text, plain) => {
  expect(plainOutput(text)).toBe(plain);
});

test("the range points at the plain part, even if the same text stands in the thought", () => {
  expect(plainRange("<think>4</think>4")).toEqual([16, 17]);
  expect(plainRange("4 <tool_response>4</tool_response> 4")).toEqual([17, 18]);
});

test.each(["<think>", "</think>", "<think> </think>", "<tool_response>", " </tool_response>", "\n "])(
  "100,000 times %j takes linear time",
  (piece) => {
    const startedAt = process.cpuUsage().user;
    plainOutput(piece.repeat(100_000));
    plainOutput(`<think>${piece.repeat(100_000)}x`);
    // Processor time, since other tests run at the same time.
    expect((process.cpuUsage().user - startedAt) / 1000).toBeLessThan(5_000);
  },
);

test("contains, regex and numeric look at the answer alone if their profile says so", () => {
  const sample = {
    output: "<think>1 is shut</think>\n<tool_response>\n2 is open\n</tool_response>",
    goldAnswer: "2",
  };
  const strip_tags = true;
  const withSubstring = { substrings: ["shut", "open"], mode: "any", strip_tags };
  const found = contains.prepare(contains.config.parse(withSubstring))(sample);
  expect(found.explain()).toBe('The output contains "open" at character 46.');
  const whole = { pattern: "\\d is \\w+", match: "full", strip_tags };
  expect(regex.prepare(regex.config.parse(whole))(sample)).toMatchObject({
    pass: true,
    positions: [[41, 50]],
  });
  expect(numeric.prepare(numeric.config.parse({ strip_tags }))(sample).pass).toBe(true);
  const wrong = numeric.prepare(numeric.config.parse({ strip_tags }))({
    ...sample,
    goldAnswer: "<think>2</think>3",
  });
  expect(wrong).toMatchObject({ pass: false, positions: [[41, 42]] });
});
