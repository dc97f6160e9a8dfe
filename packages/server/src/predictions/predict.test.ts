import { describe, expect, test } from "bun:test";
import { readPrediction } from "./predict.ts";

function read(
  message: Record<string, unknown>,
  choice: Record<string, unknown> = {},
  rest: Record<string, unknown> = {},
) {
  return readPrediction({ choices: [{ message, ...choice }], ...rest });
}

describe("content and reasoning", () => {
  const cases: [name: string, message: Record<string, unknown>, content: string, reasoning: string | null][] =
    [
      ["plain content", { content: "The door opens." }, "The door opens.", null],
      ["null content", { content: null }, "", null],
      ["no content at all", {}, "", null],
      [
        "content in parts",
        {
          content: [
            { type: "text", text: "The door " },
            { type: "text", text: "opens." },
          ],
        },
        "The door opens.",
        null,
      ],
      [
        "SGLang's reasoning_content",
        { content: "Open.", reasoning_content: "It was shut." },
        "Open.",
        "It was shut.",
      ],
      ["vLLM's reasoning", { content: "Open.", reasoning: "It was shut." }, "Open.", "It was shut."],
      [
        "reasoning_content before reasoning",
        { content: "a", reasoning_content: "b", reasoning: "c" },
        "a",
        "b",
      ],
      [
        "a leading think block",
        { content: "<think>\nIt was shut.\n</think>\n\nOpen." },
        "Open.",
        "It was shut.",
      ],
      ["an empty think block", { content: "<think>\n\n</think>\n\nOpen." }, "Open.", null],
      ["an orphan end of thinking", { content: "It was shut.\n</think>\nOpen." }, "Open.", "It was shut."],
      ["a think block inside an answer", { content: "a <think>b</think> c" }, "a <think>b</think> c", null],
      [
        "an orphan end before a think block",
        { content: "Shut.</think>a <think>b</think>" },
        "a <think>b</think>",
        "Shut.",
      ],
      ["a think block that the limit cut off", { content: "<think>It was" }, "", "It was"],
      [
        "a think block beside stated reasoning",
        { content: "<think>x</think>y", reasoning: "z" },
        "<think>x</think>y",
        "z",
      ],
      [
        "the word think in the middle",
        { content: "You see a <think> sign." },
        "You see a <think> sign.",
        null,
      ],
    ];
  for (const [name, message, content, reasoning] of cases) {
    test(name, () => {
      const prediction = read(message);
      expect(prediction.response).toEqual({ role: "assistant", content });
      expect(prediction.reasoning).toBe(reasoning);
    });
  }
});

test("usage is what the upstream counted, or zeros", () => {
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7, details: {} };
  expect(read({}, {}, { usage }).usage).toEqual({ prompt_tokens: 3, completion_tokens: 4 });
  const noCounts = [-1, 0.5, 1e9 + 1, 2 ** 53, Number.MAX_VALUE, Number.POSITIVE_INFINITY, Number.NaN, "3"];
  const notTrue = noCounts.map((count) => ({ prompt_tokens: count, completion_tokens: count }));
  for (const missing of [undefined, null, {}, "many", ...notTrue]) {
    expect(read({}, {}, { usage: missing }).usage).toEqual({ prompt_tokens: 0, completion_tokens: 0 });
  }
});

test("the matched stop is matched_stop, else stop_reason, else null", () => {
  expect(read({}, { matched_stop: 151645, stop_reason: "x" }).matched_stop).toBe(151645);
  expect(read({}, { matched_stop: null, stop_reason: "\n" }).matched_stop).toBe("\n");
  expect(read({}, { stop_reason: 2 }).matched_stop).toBe(2);
  expect(read({}).matched_stop).toBeNull();
});

test("the finish reason is passed on, or null", () => {
  expect(read({}, { finish_reason: "length" }).finish_reason).toBe("length");
  expect(read({}).finish_reason).toBeNull();
});
