import type { Referent } from "../refer.ts";
import type { Verb } from "./verb.ts";

/** Degrees Celsius of a room in which nothing has been heated or cooled, unless a thermometer shows otherwise. */
const roomTemperature = "10";
/** Things meant to be used on other things. */
const tools = new Set(["axe", "lighter", "shovel"]);

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
      return tools.has(tool.name)
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

/** Everything has the room's temperature: the sandbox does not model heat and does not invent readings. */
function measure({ thing }: Referent): string {
  const reading = /a temperature of (-?\d+)/.exec(thing.remark)?.[1] ?? roomTemperature;
  return `the thermometer measures a temperature of ${reading} degrees celsius`;
}
