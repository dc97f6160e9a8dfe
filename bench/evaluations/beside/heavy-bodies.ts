// Evaluations that keep a processor busy, each with the worst input for its family.

const sentence = (step: number): string =>
  `At step ${step} the agent opens door ${(step * 7919) % 1000}, looks at shelf ${(step * 104729) % 997} and takes what it finds. `;

const longText = (characters: number, offset: number): string => {
  let text = "";
  for (let step = offset; text.length < characters; step += 1) text += sentence(step);
  return text.slice(0, characters);
};

const bodyOf = (evaluator: string, output: string, gold: string, profileName?: string): string =>
  JSON.stringify({
    evaluators: [{ evaluator, ...(profileName === undefined ? {} : { profile_name: profileName }) }],
    evaluated_model_output: output,
    evaluated_model_gold_answer: gold,
  });

export const heavyRegexProfile = {
  evaluator_family: "regex",
  name: "bench-heavy",
  config: { pattern: "(?:[a-z]+ ){8,60}shelf (?:\\d+ ?){3,40}$" },
};

/** Cheap to compare, and long to read. Nothing of them is stored. */
export const longBodies = [
  JSON.stringify({
    evaluators: [{ evaluator: "exact-match" }],
    evaluated_model_output: longText(500_000, 0),
    evaluated_model_gold_answer: longText(500_000, 500),
    capture: "none",
  }),
];

export const heavyBodies = [
  bodyOf("edit-distance", longText(40_000, 0), longText(40_000, 500)),
  bodyOf("rouge-l", longText(40_000, 0), longText(40_000, 500)),
  bodyOf("regex", longText(200_000, 0), "", heavyRegexProfile.name),
];
