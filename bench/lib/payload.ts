// One prediction of a small text environment, about 1.5 KB, in the two forms that the targets accept.
// The composed prompt is written out here instead of imported from the server: if the server composes something else, the
// bench must fail, because it would not measure the same work.

const context = {
  environment_state: [
    "[STARTING STATE]",
    "You are in the workshop. Here you see:",
    "\ta table. On the table is: a battery, a red wire, a black wire, a light bulb (that is off), a switch (that is off).",
    "\ta cupboard. The cupboard door is closed.",
    "\tan ultra low temperature freezer. The freezer door is closed.",
    "You also see:",
    "\tA door to the hallway (that is open)",
    "",
    "[ROOM MAP]",
    "hallway: doors to the workshop, the kitchen, the greenhouse and the art studio; a painting hangs on the wall.",
    "kitchen: a stove (that is off), a sink (that is off), a fridge (closed), a counter with a glass cup and a metal pot.",
    "greenhouse: three flower pots with soil, a watering can (empty), a bee hive (closed).",
  ].join("\n"),
  task_context:
    "Turn on the light bulb with the parts on the table. Then bring the metal pot to the workshop.",
  domain_knowledge:
    "A bulb lights up when both of its terminals are connected to the two terminals of a battery and every switch " +
    "in between is on. An object inside a closed container can neither be seen nor picked up.",
  steering_directives:
    "Answer with the observation only, in the words of the environment. If nothing changes, say so.",
};

const interaction = {
  state:
    "The red wire is connected to the anode of the battery and to the switch. The black wire is connected to the cathode " +
    "of the battery and to the light bulb. In your inventory you see: an orange, a thermometer currently reading 12 degrees celsius.",
  action: "connect switch to light bulb anode",
};

const sampling = { max_tokens: 512, temperature: 0.2, top_p: 1 };

const messages = [
  {
    role: "system",
    content: [
      `## ENVIRONMENT STATE\n${context.environment_state}`,
      `## TASK CONTEXT\n${context.task_context}`,
      `## DOMAIN KNOWLEDGE\n${context.domain_knowledge}`,
      `## STEERING DIRECTIVES\n${context.steering_directives}`,
    ].join("\n\n"),
  },
  { role: "user", content: `State: ${interaction.state}\n\nAction: ${interaction.action}` },
];

export const predictBody = JSON.stringify({ context, interaction, params: sampling });
export const chatBody = JSON.stringify({ model: "mock", messages, ...sampling });

/** A part of the mock upstream's completion, which every target must return. */
export const completionExcerpt = "connected to the anode of the light bulb";

/** What must reach the upstream through every target. */
export const expectedMessages = JSON.stringify(messages);
