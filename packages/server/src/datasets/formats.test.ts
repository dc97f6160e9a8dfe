import { expect, test } from "bun:test";
import { readPredictionLine } from "./formats.ts";

function read(row: unknown, line = 1) {
  return [...readPredictionLine(row, line)][0];
}

test.each([
  ["prediction_raw", "reference"],
  ["predicted", "expected"],
  ["generated", "ground_truth"],
])("a line's %s and %s are the prediction and the next state", (prediction, reference) => {
  const row = { index: 17, [prediction]: "<think>?</think>open", [reference]: "shut", config: "test" };
  expect(read(row)).toEqual({
    dataset_sample_id: "17",
    trajectory_id: "17",
    step: 0,
    messages: [],
    next_state: "shut",
    prediction: "<think>?</think>open",
  });
});

test("of several names the first counts, as in the scorer", () => {
  const row = {
    generated: "c",
    predicted: "b",
    prediction_raw: "a",
    ground_truth: "z",
    expected: "y",
    reference: "x",
  };
  expect(read(row)).toMatchObject({ prediction: "a", next_state: "x" });
});

test("a failed prediction is left out, an empty one is not", () => {
  expect(read({ generated: "", ground_truth: "a" })?.prediction).toBe("");
  for (const failed of [
    { generated: "ERROR: 500" },
    { generated: null },
    { generated: "a", skipped_overlong: true },
  ]) {
    expect(read({ ...failed, ground_truth: "a" })).not.toHaveProperty("prediction");
  }
});

test("a line without an index is named by its number, and one without a reference is refused", () => {
  expect(read({ predicted: "a", expected: "a" }, 5)?.dataset_sample_id).toBe("line-5");
  expect(() => read({ predicted: "a" })).toThrow("Field required");
  expect(() => read({ predicted: { a: 1 }, expected: "a" })).toThrow(
    "Input should be a valid string, not an object",
  );
});
