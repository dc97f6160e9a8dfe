import { type Event, readEvents, type Switch } from "./read-events.ts";
import { parseWorldMap, placeInOrder, type Room, type WorldMap } from "./world/room.ts";
import { type Found, findNamed, findThings, type Thing } from "./world/thing.ts";

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
