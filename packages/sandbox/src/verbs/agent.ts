import type { Scene } from "../scene.ts";
import { renderRoom } from "../world/room.ts";
import { listThings, renderLine, renderThing } from "../world/thing.ts";
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

export const travelVerbs: readonly Verb[] = [
  {
    pattern: /^teleport (?:to )?(?:the )?(.+)$/i,
    observe: (scene, [written = ""]) => {
      const { rooms } = scene.map;
      const room = nameOnMap(scene, written);
      return rooms.size === 0 || rooms.has(room) ? `You teleport to the ${room}.` : undefined;
    },
  },
  {
    pattern: /^(?:go|walk|move|enter|head) (?:to |into )?(?:the )?([^.]+)$/i,
    observe: (scene, [written = ""]) => {
      const room = nameOnMap(scene, written);
      return canWalkTo(scene, room) ? `You move to the ${room}.` : undefined;
    },
  },
];

/** A room's name on the map, whose case an action need not keep. */
function nameOnMap({ map, room }: Scene, written: string): string {
  const names = [...map.rooms.keys(), ...(map.neighbours.get(room?.name ?? "") ?? [])];
  const folded = written.toLowerCase();
  return (
    names.find((name) => name === written) ?? names.find((name) => name.toLowerCase() === folded) ?? written
  );
}

/** If no exit of the room is known, the world does not say which rooms are adjacent, so any may be. */
function canWalkTo({ map, room, isPlaced }: Scene, to: string): boolean {
  const neighbours = map.neighbours.get(room?.name ?? "");
  if (neighbours === undefined) return map.rooms.size === 0 || map.rooms.has(to);
  const isShut = room?.doors.some((door) => door.to === to && !door.isOpen) ?? false;
  return (neighbours.has(to) && !isShut) || (!isPlaced && map.rooms.has(to));
}
