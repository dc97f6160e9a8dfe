import { parseThing } from "./world/parse-thing.ts";
import { parseRooms, type Room } from "./world/room.ts";
import type { Thing } from "./world/thing.ts";

/** Events described in the state. The sandbox keeps nothing between turns, so they are all it knows. */
export type Event =
  | { kind: "described"; room: Room }
  | { kind: "listed"; carried: Thing[] }
  | { kind: "entered"; room: string }
  | { kind: "moved"; thing: string; to: string }
  | { kind: "poured"; from: string; into: string }
  | { kind: "switched"; thing: string; to: Switch };

export type Switch = "open" | "closed" | "activated" | "deactivated";

/** Sentences in observations are short. The patterns below are not tried on longer ones. */
const maxSentenceCharacters = 300;
const inventoryOpening = "In your inventory, you see:";

/** Reads a state, which may be a single observation or a whole transcript, from top to bottom. */
export function readEvents(state: string): Event[] {
  const rooms = parseRooms(state);
  const lines = state.split("\n");
  return lines.flatMap((line, index): Event[] => {
    const described: Event[] = [];
    for (let room = rooms[0]; room !== undefined && line.includes(room.opening); room = rooms[0]) {
      described.push({ kind: "described", room });
      rooms.shift();
    }
    if (described.length > 0) return described;
    if (line === inventoryOpening) return [{ kind: "listed", carried: readList(lines, index + 1) }];
    // List items belong to the line above the list.
    return line.startsWith("\t") ? [] : line.split(/(?<=[.!?]) /).flatMap(readSentence);
  });
}

function readList(lines: readonly string[], from: number): Thing[] {
  const things: Thing[] = [];
  for (let index = from; lines[index]?.startsWith("\t"); index += 1) {
    const thing = parseThing((lines[index] ?? "").trim());
    if (thing.phrase !== "nothing") things.push(thing);
  }
  return things;
}

function readSentence(sentence: string): Event[] {
  if (sentence.length > maxSentenceCharacters) return [];
  const entered =
    /^You (?:teleport|move|go|walk) to (?:the )?([^.]+)\.?$|^You are (?:now )?in (?:an?|the) ([^.]+)\.?$/.exec(
      sentence,
    );
  const room = entered?.[1] ?? entered?.[2];
  if (room !== undefined) return [{ kind: "entered", room }];

  const [, thing, to] = /^You move the (.+) to the (.+)\.$/.exec(sentence) ?? [];
  if (thing !== undefined && to !== undefined) return [{ kind: "moved", thing, to }];

  const [, from, into] = /^You pour the contents of the (.+) into the (.+)\.$/.exec(sentence) ?? [];
  if (from !== undefined && into !== undefined) return [{ kind: "poured", from, into }];

  const [, switched, position] =
    /^The (.+?)(?: door)? is (?:now )?(open|closed|activated|deactivated)\.$/.exec(sentence) ?? [];
  if (switched !== undefined) return [{ kind: "switched", thing: switched, to: position as Switch }];

  const [, turned, turnedThing] = /^You (open|close) the (.+)\.$/.exec(sentence) ?? [];
  if (turnedThing !== undefined)
    return [{ kind: "switched", thing: turnedThing, to: turned === "open" ? "open" : "closed" }];

  // Each option of a question ends with the room that the agent is in.
  const [, current] = /^\d+:\t.{1,200}in ([^,()]{1,80})\)$/.exec(sentence) ?? [];
  return current === undefined ? [] : [{ kind: "entered", room: current }];
}
