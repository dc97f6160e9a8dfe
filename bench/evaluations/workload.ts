import type { LoadRequest, RunningPresage } from "../lib/targets.ts";

export const fullEvaluationsPlan = {
  /** Each number of connections is measured; the goal is for the most. */
  throughput: { rounds: 3, connections: [64, 256], warmUpS: 7, durationS: 8 },
  beside: { rounds: 3, connections: 4, delayMs: 5, durationS: 8, heavyInFlight: 20 },
  accounts: { rounds: 5, connections: 4, durationS: 6, heavyInFlight: 50 },
};
export type EvaluationsPlan = typeof fullEvaluationsPlan;

export const quickEvaluationsPlan: EvaluationsPlan = {
  throughput: { rounds: 1, connections: [64, 256], warmUpS: 1, durationS: 2 },
  beside: { rounds: 1, connections: 4, delayMs: 5, durationS: 3, heavyInFlight: 20 },
  accounts: { rounds: 1, connections: 4, durationS: 3, heavyInFlight: 50 },
};

// Steps of a small text environment to evaluate, about 1.2 KB of texts each. There are several, so that rows differ and one in four fails.

const room = [
  "You are in the workshop. Here you see: a table, on which are a battery, a red wire, a black wire, a light bulb (off) and a",
  "switch (off); a cupboard, whose door is closed; a freezer, whose door is closed. There is a door to the hallway (open). In",
  "your inventory you see: an orange, a thermometer currently reading 12 degrees celsius, a metal pot (empty).",
].join(" ");

const observation = (step: number): string =>
  `The red wire is connected to the anode of the battery and to the switch. The switch is now connected to terminal ${step} of the ` +
  "light bulb. The black wire is still connected to the cathode of the battery. The circuit is closed up to the switch, which is " +
  "off; the bulb stays dark. Nothing else in the room has changed.";

/** The bodies of evaluate requests, one per line. */
const evaluateBodies = Array.from({ length: 64 }, (_, step) =>
  JSON.stringify({
    evaluators: [{ evaluator: "exact-match" }],
    evaluated_model_input: `${room}\n\nAction: connect the switch to terminal ${step} of the light bulb`,
    evaluated_model_output: observation(step),
    evaluated_model_gold_answer: observation(step % 4 === 0 ? step + 1 : step),
    dataset_id: "workshop",
    tags: { environment: "bench" },
    capture: "all",
  }),
).join("\n");

export const evaluateBodyKilobytes = ((evaluateBodies.split("\n")[0]?.length ?? 0) / 1000).toFixed(1);

/** A request whose body contains all bodies, for evaluate.lua. */
export const evaluateRequest = ({
  origin,
  headers,
}: Pick<RunningPresage, "origin" | "headers">): LoadRequest => ({
  url: `${origin}/v1/evaluate`,
  headers,
  body: evaluateBodies,
});

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

/** Cheap to compare, but slow to read. None of these texts is stored. */
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
