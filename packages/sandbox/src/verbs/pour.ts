import { isSubstance } from "../world/match-thing.ts";
import { fullName } from "../world/name-thing.ts";
import type { Verb } from "./verb.ts";

export const pourVerbs: readonly Verb[] = [
  {
    form: "pour _ in _",
    pattern: /^(?:pour|empty) (.+?) (?:in|into|on|onto) (.+)$/i,
    perform: (source, target) => {
      if (source.thing === target.thing) return "You can't move something into itself.";
      if (isSubstance(source.thing)) return `You pour the ${source.name} into the ${target.name}.`;
      return `You pour the contents of the ${source.name} into the ${target.name}.`;
    },
  },
  {
    form: "dunk _ in _",
    pattern: /^dunk (.+?) (?:in|into) (.+)$/i,
    perform: (thing, target) => `You dunk the ${thing.name} in the ${target.name}.`,
  },
  {
    form: "mix _",
    pattern: /^(?:mix|stir) (.+)$/i,
    perform: ({ name, thing, isUpToDate }) => {
      const things = thing.contents?.things ?? [];
      if (isUpToDate && things.length === 0) return "That container is empty, so there are no items to mix.";
      const ingredients = things.map(({ phrase }) => fullName(phrase)).join(" and ");
      return `You mix ${ingredients === "" ? `the contents of the ${name}` : ingredients}.`;
    },
  },
];
