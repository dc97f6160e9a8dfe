import { refer } from "../refer.ts";
import { isFixture, isSubstance } from "../world/match-thing.ts";
import type { Verb } from "./verb.ts";

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
