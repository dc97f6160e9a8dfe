import { expect, test } from "bun:test";
import { stepsAround } from "./step-strip.tsx";

const steps = Array.from({ length: 250 }, (_, index) => index * 2);

test("a short list is shown whole", () => {
  expect(stepsAround([0, 1, 4], 4)).toEqual({ shown: [0, 1, 4], before: undefined, after: undefined });
  expect(stepsAround([], 4)).toEqual({ shown: [], before: undefined, after: undefined });
});

test("neighbouring steps show the same part of a long list, with a way to the others", () => {
  const { shown, before, after } = stepsAround(steps, 300);
  expect([shown.at(0), shown.at(-1), before, after]).toEqual([240, 478, 238, 480]);
  expect(stepsAround(steps, 302).shown).toEqual(shown);
});

test("without a known step it begins at the start", () => {
  expect(stepsAround(steps, 7).shown[0]).toBe(0);
  expect(stepsAround(steps, undefined).after).toBe(240);
});
