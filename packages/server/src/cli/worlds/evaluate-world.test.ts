import { expect, test } from "bun:test";
import { describeExamplesWorth } from "./evaluate-world.ts";

/** As compared with the world: what is less is worse. */
const bare = {
  difference: -0.123,
  interval: { level: 0.95, lower: -0.2, upper: -0.05 },
  min_detectable: 0.08,
};
const lost = { outcome: "worse", why: null } as const;

test.each([
  [{ ...bare, outcome: "worse" }, lost, "Examples help: +12.3 points (+5.0 to +20.0)."],
  [{ ...bare, difference: 0.02, interval: null, outcome: "better" }, lost, "Examples hurt: −2.0 points."],
  [
    { ...bare, outcome: "undecided" },
    lost,
    "No difference between the model with examples and without was found. One of 8.0 points would have been seen.",
  ],
  [
    { ...bare, outcome: "worse" },
    { outcome: "undecided", why: "within_noise" },
    "The records alone are as good as the model: you may not need it.",
  ],
  [
    { ...bare, outcome: "worse" },
    { outcome: "undecided", why: "few_trajectories" },
    "Examples help: +12.3 points (+5.0 to +20.0).",
  ],
  [undefined, undefined, "Nothing can be said: no sample has both verdicts."],
] as const)("what examples are worth is one sentence (%#)", (ofBare, records, sentence) => {
  expect(describeExamplesWorth({ bare: ofBare, records })).toBe(sentence);
});
