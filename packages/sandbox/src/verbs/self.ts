import type { Verb } from "./verb.ts";

/** How long to wait if the action does not say. */
const defaultIterations = "10";

export const selfVerbs: readonly Verb[] = [
  {
    pattern: /^wait ?(\d{1,6})?$/i,
    observe: (_scene, [iterations]) =>
      `You decide to wait for ${iterations ?? defaultIterations} iterations.`,
  },
  {
    pattern: /^task$/i,
    observe: ({ task }) => (task === "" ? undefined : task),
  },
  {
    form: "focus on _",
    pattern: /^focus on (.+)$/i,
    perform: ({ fullName }) => `You focus on the ${fullName}.`,
  },
  {
    form: "eat _",
    pattern: /^(?:eat|drink) (.+)$/i,
    perform: ({ name }) => `The ${name} was delicious.`,
  },
];
