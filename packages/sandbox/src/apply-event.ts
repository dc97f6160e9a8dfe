import { type Found, findThings } from "./find-things.ts";
import type { Event, Switch } from "./read-events.ts";
import type { Scene } from "./scene.ts";
import { placeInOrder } from "./world/room.ts";
import type { Thing } from "./world/thing.ts";

/** Updates the scene with an event from the state. */
export function applyEvent(scene: Scene, event: Event): void {
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
