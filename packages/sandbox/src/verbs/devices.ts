import type { Referent } from "../refer.ts";
import { measure } from "./measure.ts";
import type { Verb } from "./verb.ts";

/** Things meant to be used on other things. */
const TOOLS = new Set(["axe", "lighter", "shovel"]);

export const deviceVerbs: readonly Verb[] = [
  {
    form: "activate _",
    pattern: /^(?:activate|turn on|switch on) (.+)$/i,
    perform: (thing) => turn(thing, "activated"),
  },
  {
    form: "deactivate _",
    pattern: /^(?:deactivate|turn off|switch off) (.+)$/i,
    perform: (thing) => turn(thing, "deactivated"),
  },
  {
    form: "use _ on _",
    pattern: /^use (.+?) (?:on|with) (.+)$/i,
    perform: (tool) => {
      if (tool.name === "thermometer") return measure(tool);
      return TOOLS.has(tool.name)
        ? "I'm not sure how to use those two things together."
        : `I'm not sure how to use the ${tool.name}.`;
    },
  },
  {
    form: "flush _",
    pattern: /^flush (.+)$/i,
    perform: ({ name }) =>
      name === "toilet" ? `The ${name} is now flushing.` : "It's not clear how to flush that.",
  },
];

function turn({ name, thing, isUpToDate }: Referent, to: "activated" | "deactivated"): string {
  const isOn = /^(?:activated|on|turned on)$/.test(thing.status ?? "");
  const isThere = isUpToDate && thing.status !== undefined && isOn === (to === "activated");
  return isThere ? `The ${name} is already ${to}.` : `The ${name} is now ${to}.`;
}
