import type { Scene } from "../scene.ts";
import { type Door, fullName, isFixture, isSubstance } from "../world/thing.ts";
import { type Referent, refer, type Verb } from "./verb.ts";

export const doorVerbs: readonly Verb[] = [
  { form: "open _", pattern: /^open (.+)$/i, perform: (thing) => turnDoor(thing, "open") },
  { form: "close _", pattern: /^(?:close|shut) (.+)$/i, perform: (thing) => turnDoor(thing, "closed") },
];

function turnDoor({ name, thing, isDescribed, isUpToDate }: Referent, to: Door): string {
  if (isUpToDate && thing.door === to) return `The ${name} is already ${to}.`;
  if (isDescribed && thing.door === undefined)
    return `The ${name} is not ${to === "open" ? "openable" : "closeable"}.`;
  return isDescribed ? `The ${name} is now ${to}.` : `You ${to === "open" ? "open" : "close"} the ${name}.`;
}

/** Degrees Celsius of a room in which nothing has been heated or cooled, unless a thermometer shows otherwise. */
const roomTemperature = "10";
/** Things meant to be used on other things. */
const tools = new Set(["axe", "lighter", "shovel"]);

export const deviceVerbs: readonly Verb[] = [
  {
    form: "activate _",
    pattern: /^(?:activate|turn on|switch on) (.+)$/i,
    perform: (thing) => switchDevice(thing, "activated"),
  },
  {
    form: "deactivate _",
    pattern: /^(?:deactivate|turn off|switch off) (.+)$/i,
    perform: (thing) => switchDevice(thing, "deactivated"),
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

function switchDevice({ name, thing, isUpToDate }: Referent, to: "activated" | "deactivated"): string {
  const isOn = /^(?:activated|on|turned on)$/.test(thing.status ?? "");
  const isThere = isUpToDate && thing.status !== undefined && isOn === (to === "activated");
  return isThere ? `The ${name} is already ${to}.` : `The ${name} is now ${to}.`;
}

/** Everything has the room's temperature: the sandbox does not model heat and does not invent readings. */
function measure({ thing }: Referent): string {
  const reading = /a temperature of (-?\d+)/.exec(thing.remark)?.[1] ?? roomTemperature;
  return `the thermometer measures a temperature of ${reading} degrees celsius`;
}

export const handlingVerbs: readonly Verb[] = [
  {
    form: "pick up _",
    pattern: /^(?:pick up|take|get|grab) (.+)$/i,
    isForRoomOnly: true,
    perform: ({ name, thing }) =>
      isFixture(thing) ? `The ${name} is not moveable.` : `You move the ${name} to the inventory.`,
  },
  {
    pattern: /^(?:drop|put down) (.+)$/i,
    observe: (scene, [words = ""]) => {
      const [thing] = refer(scene, words);
      return thing === undefined
        ? undefined
        : `You move the ${thing.name} to the ${scene.room?.name ?? "ground"}.`;
    },
  },
  {
    form: "move _ to _",
    pattern: /^(?:put|move|place|insert) (.+?) (?:in|into|on|onto|to|inside) (.+)$/i,
    perform: (thing, target) => {
      if (target.thing === thing.thing) return "You can't move something into itself.";
      if (target.thing.door === "closed")
        return `That can't be moved there, because the ${target.name} isn't open.`;
      if (isSubstance(target.thing)) return "That can't be moved there.";
      return `You move the ${thing.name} to the ${target.name}.`;
    },
  },
];

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

/** Things that are not electrical have a free terminal. */
const freeTerminal = "terminal 1";
/** Electrical things, for which the terminal must be named. */
const electricalPattern = /(?:battery|wire|light bulb|switch|motor|buzzer|solar panel|generator|turbine)$/;

export const connectVerbs: readonly Verb[] = [
  {
    pattern: /^connect (.+?) (?:to|in|into) (.+)$/i,
    observe: (scene, [one = "", other = ""]) => {
      const from = readEnd(scene, one);
      const to = readEnd(scene, other);
      if (from === undefined || to === undefined) return undefined;
      if (from.terminal === undefined || to.terminal === undefined)
        return "Connections must specify specific points of contact on electrical components (e.g. anode, terminal 1)";
      if (from.name === to.name) return "Something can't be connected to itself.";
      return `${from.terminal} on ${from.name} is now connected to ${to.terminal} on ${to.name}`;
    },
  },
  {
    form: "disconnect _",
    pattern: /^disconnect (.+)$/i,
    perform: ({ name }) => `${name} has been disconnected`,
  },
];

/** "battery anode", "anode on battery" or "fork", if the world has such a thing. */
function readEnd(scene: Scene, words: string): { name: string; terminal: string | undefined } | undefined {
  const after = /^(.+) (anode|cathode|terminal \d)$/i.exec(words);
  const before = /^(anode|cathode|terminal \d) (?:on|of|in) (.+)$/i.exec(words);
  const [holder] = refer(scene, after?.[1] ?? before?.[2] ?? words);
  if (holder === undefined) return undefined;
  const terminal = after?.[2] ?? before?.[1];
  const isElectrical = electricalPattern.test(holder.name);
  return { name: holder.name, terminal: terminal ?? (isElectrical ? undefined : freeTerminal) };
}
