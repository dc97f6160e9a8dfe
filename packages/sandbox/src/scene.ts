import { parseThing } from "./world/parse-thing.ts";
import { parseRooms, parseWorldMap, placeInOrder, type Room, type WorldMap } from "./world/room.ts";
import { type Found, findNamed, findThings, type Thing } from "./world/thing.ts";

/** Events described in the state. The sandbox keeps nothing between turns, so they are all it knows. */
type Event =
  | { kind: "described"; room: Room }
  | { kind: "listed"; carried: Thing[] }
  | { kind: "entered"; room: string }
  | { kind: "moved"; thing: string; to: string }
  | { kind: "poured"; from: string; into: string }
  | { kind: "switched"; thing: string; to: Switch };

type Switch = "open" | "closed" | "activated" | "deactivated";

/** Sentences in observations are short. The patterns below are not tried on longer ones. */
const maxSentenceCharacters = 300;
const inventoryOpening = "In your inventory, you see:";

/** Reads a state, which may be a single observation or a whole transcript, from top to bottom. */
function readEvents(state: string): Event[] {
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

/** The world before the action. */
export interface Scene {
  map: WorldMap;
  carried: Thing[];
  state: string;
  task: string;
  /** Where the agent is, as far as known. */
  room?: Room;
  /** Whether the state says where the agent is; otherwise `room` is a guess. */
  isPlaced: boolean;
  /** Whether the state describes that room in full. */
  isSeen: boolean;
  /** Things whose current condition the state mentions without describing the room. */
  upToDate: Set<Thing>;
}

/** Ten times what real worlds and transcripts need; beyond it, hostile input would become expensive. */
const maxCharacters = 200_000;
const maxEvents = 100;

/** Builds the world from the map and applies the events in the state. */
export function readScene(environment: string, task: string, state: string): Scene {
  const scene: Scene = {
    map: parseWorldMap(environment.slice(0, maxCharacters)),
    carried: [],
    state,
    task,
    isPlaced: false,
    isSeen: false,
    upToDate: new Set(),
  };
  const events = readEvents(state.slice(-maxCharacters)).slice(-maxEvents);
  const guess = guessRoom(scene.map, events);
  if (guess !== undefined) scene.room = guess;
  for (const event of events) applyEvent(scene, event);
  return scene;
}

/** The only room with a thing that the events mention, otherwise the room where the agent began. */
function guessRoom({ rooms, start }: WorldMap, events: readonly Event[]): Room | undefined {
  for (const name of events.flatMap(thingsOf)) {
    const holders = [...rooms.values()].filter(({ things }) => findNamed(things, name).length > 0);
    if (holders.length === 1) return holders[0];
  }
  return start === undefined ? undefined : rooms.get(start);
}

function thingsOf(event: Event): string[] {
  switch (event.kind) {
    case "moved":
      return [event.thing, event.to];
    case "poured":
      return [event.from, event.into];
    case "switched":
      return [event.thing];
    default:
      return [];
  }
}

/** Updates the scene with an event from the state. */
function applyEvent(scene: Scene, event: Event): void {
  switch (event.kind) {
    case "described":
      scene.map.rooms.set(event.room.name, event.room);
      enter(scene, event.room.name);
      scene.isSeen = true;
      return;
    case "entered":
      enter(scene, event.room);
      return;
    case "listed":
      scene.carried = event.carried;
      return;
    case "moved":
      move(scene, event.thing, event.to);
      return;
    case "poured":
      pour(scene, event.from, event.into);
      return;
    case "switched":
      for (const { thing } of find(scene, event.thing).slice(0, 1)) {
        turn(thing, event.to);
        scene.upToDate.add(thing);
      }
  }
}

function enter(scene: Scene, name: string): void {
  const room = scene.map.rooms.get(name);
  if (room === undefined) return;
  scene.isSeen &&= scene.room === room;
  scene.room = room;
  scene.isPlaced = true;
}

function move(scene: Scene, name: string, to: string): void {
  const [found] = find(scene, name);
  if (found === undefined) return;
  const target = to === "inventory" ? scene.carried : find(scene, to)[0]?.thing.contents?.things;
  if (target === undefined) return;
  found.siblings.splice(found.siblings.indexOf(found.thing), 1);
  insert(target, found.thing);
}

function pour(scene: Scene, from: string, into: string): void {
  const source = find(scene, from)[0]?.thing.contents;
  const target = find(scene, into)[0]?.thing.contents;
  if (source === undefined || target === undefined || source === target) return;
  for (const thing of source.things.splice(0)) insert(target.things, thing);
}

function turn(thing: Thing, to: Switch): void {
  if (to === "open" || to === "closed") {
    if (thing.door === undefined) return;
    thing.door = to;
    // The state does not say what was behind the door, so nothing is shown there.
    if (to === "open") thing.contents ??= { manner: "In", things: [] };
    return;
  }
  // A stopwatch is "activated"; a sink that has been activated is "turned on".
  const isTurned = thing.status?.startsWith("turned ") ?? false;
  if (thing.status !== undefined)
    thing.status = isTurned ? (to === "activated" ? "turned on" : "turned off") : to;
}

function find({ carried, room }: Scene, name: string): Found[] {
  const inHand = findThings(carried, name);
  return inHand.length > 0 ? inHand : findThings(room?.things ?? [], name);
}

function insert(things: Thing[], thing: Thing): void {
  things.splice(placeInOrder(things, thing.phrase), 0, thing);
}
