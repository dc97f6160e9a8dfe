import type { Referent } from "../refer.ts";
import type { Door } from "../world/thing.ts";
import type { Verb } from "./verb.ts";

export const doorVerbs: readonly Verb[] = [
  { form: "open _", pattern: /^open (.+)$/i, perform: (thing) => turn(thing, "open") },
  { form: "close _", pattern: /^(?:close|shut) (.+)$/i, perform: (thing) => turn(thing, "closed") },
];

function turn({ name, thing, isDescribed, isUpToDate }: Referent, to: Door): string {
  if (isUpToDate && thing.door === to) return `The ${name} is already ${to}.`;
  if (isDescribed && thing.door === undefined)
    return `The ${name} is not ${to === "open" ? "openable" : "closeable"}.`;
  return isDescribed ? `The ${name} is now ${to}.` : `You ${to === "open" ? "open" : "close"} the ${name}.`;
}
