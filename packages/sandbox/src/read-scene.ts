import { applyEvent } from "./apply-event.ts";
import { findNamed } from "./find-things.ts";
import { type Event, readEvents } from "./read-events.ts";
import type { Scene } from "./scene.ts";
import type { Room } from "./world/room.ts";
import { parseWorldMap, type WorldMap } from "./world/world-map.ts";

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
