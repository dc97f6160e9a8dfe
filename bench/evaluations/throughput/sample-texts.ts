// Steps of a small text environment to evaluate, about 1.2 KB of texts each. Several, so that rows differ and one in four fails.

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
export const evaluateBodies = Array.from({ length: 64 }, (_, step) =>
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
