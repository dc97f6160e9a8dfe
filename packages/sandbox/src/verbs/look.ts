import { listThings, renderLine, renderThing } from "../world/render-thing.ts";
import { renderRoom } from "../world/room.ts";
import type { Verb } from "./verb.ts";

export const lookVerbs: readonly Verb[] = [
  {
    pattern: /^(?:look around|look|l|observe)$/i,
    // If nothing is known about the room, the state is all there is to see.
    observe: ({ room, state }) => (room === undefined ? state.trim() : renderRoom(room)),
  },
  {
    form: "look in _",
    pattern: /^look (?:in|into|inside) (.+)$/i,
    perform: ({ name, thing }) => {
      if (thing.door === "closed") return `The ${name} isn't open, so you can't see inside.`;
      const things = thing.contents?.things ?? [];
      if (things.length === 0) return `There is nothing in the ${name}.`;
      return [`Inside the ${name} is: `, ...things.map(renderLine)].join("\n");
    },
  },
  {
    form: "look at _",
    pattern: /^(?:look at|look on|examine|inspect|x) (.+)$/i,
    perform: ({ fullName, thing, isDescribed }) =>
      isDescribed ? renderThing(thing) : `You see nothing special about the ${fullName}.`,
  },
  {
    form: "read _",
    pattern: /^read (.+)$/i,
    perform: ({ name, thing }) => {
      const title = thing.phrase.split(" titled ")[1];
      return title === undefined ? "It's not clear how to read that." : `The ${name} is titled: ${title}.`;
    },
  },
  {
    pattern: /^(?:inventory|inv|i)$/i,
    observe: ({ carried }) => {
      if (carried.length === 0) return `In your inventory, you see:\n\t${listThings(carried)}`;
      return ["In your inventory, you see:", ...carried.map(renderLine)].join("\n");
    },
  },
];
