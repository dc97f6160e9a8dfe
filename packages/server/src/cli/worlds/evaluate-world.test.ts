import { expect, test } from "bun:test";
import { describeCurve, describeExamplesWorth } from "./evaluate-world.ts";

/** The bare model compared with the world: negative is worse. */
const bare = {
  difference: -0.123,
  interval: { level: 0.95, lower: -0.2, upper: -0.05 },
  min_detectable: 0.08,
};
const within = (lower: number, upper: number) => ({
  ...({ outcome: "undecided", difference: (lower + upper) / 2 } as const),
  interval: { level: 0.95, lower, upper },
});
const lost = { ...within(-0.3, -0.1), outcome: "worse" } as const;
const helps = "Examples help: +12.3 points (+5.0 to +20.0).";

test.each([
  [{ ...bare, outcome: "worse" }, lost, helps],
  [{ ...bare, difference: 0.02, interval: null, outcome: "better" }, lost, "Examples hurt: −2.0 points."],
  [
    { ...bare, outcome: "undecided" },
    lost,
    "No difference between the model with examples and without was found. A true difference of 8.0 points would have been found in four of five cases.",
  ],
  [
    { ...bare, outcome: "worse" },
    within(-0.015, 0.02),
    `${helps} The records alone are as good as the model, within 2 points (−1.5 to +2.0): you may not need it.`,
  ],
  [
    { ...bare, outcome: "worse" },
    within(-0.021, 0.001),
    `${helps} No difference between the records alone and the model was found.`,
  ],
  [
    { ...bare, outcome: "worse" },
    { outcome: "undecided", difference: 0, interval: null },
    `${helps} No difference between the records alone and the model was found.`,
  ],
  [
    { ...bare, outcome: "worse" },
    { ...within(0.05, 0.15), outcome: "better" },
    `${helps} The records alone are better than the model: +10.0 points (+5.0 to +15.0).`,
  ],
  [undefined, undefined, "Nothing can be said: no sample has both verdicts."],
] as const)(
  "what examples are worth is said, and of the records only what is shown (%#)",
  (ofBare, records, text) => {
    expect(describeExamplesWorth({ bare: ofBare, records })).toBe(text);
  },
);

test.each([
  ["worse worse worse", "With some it is worse in 3 of 3 draws, and better in 0: more are likely to help."],
  ["worse undecided", "With some it is worse in 1 of 2 draws, and better in 0: more may help."],
  ["worse better", "With some it is worse in 1 of 2 draws, and better in 1: whether more help is open."],
  ["undecided", "No difference between some and all was found: more of them may not help."],
])("whether more records help is said by %s", (outcomes, text) => {
  const draws = outcomes.split(" ") as ("worse" | "better" | "undecided")[];
  expect(
    describeCurve(
      "some",
      draws.map((outcome) => ({ outcome })),
    ),
  ).toBe(text);
});
