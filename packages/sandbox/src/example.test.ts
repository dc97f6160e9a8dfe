import { expect, test } from "bun:test";
import { makeExample } from "./example.ts";

test("The example is the same each time, and its predictor forgets but is better than predicting no change", () => {
  const { samples, predictions } = makeExample();
  expect(makeExample()).toEqual({ samples, predictions });
  expect(samples.length).toBe(predictions.length);
  const shareOf = (isRight: (index: number) => boolean) =>
    samples.filter((_, index) => isRight(index)).length / samples.length;
  const right = shareOf((index) => predictions[index]?.prediction === samples[index]?.next_state);
  const unchanged = shareOf((index) => samples[index]?.interaction.state === samples[index]?.next_state);
  expect(right).toBeGreaterThan(0.5);
  expect(right).toBeLessThan(0.95);
  expect(unchanged).toBeLessThan(right);
  const refused = shareOf((index) => samples[index]?.next_state.startsWith("No known action") ?? false);
  expect(refused).toBeLessThan(0.25);
});
