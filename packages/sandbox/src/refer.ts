import { type Found, findThings } from "./find-things.ts";
import type { Scene } from "./scene.ts";
import { isFixture } from "./world/match-thing.ts";
import { fullName, listNames, shortName } from "./world/name-thing.ts";
import type { Thing } from "./world/thing.ts";

/** A thing that an action speaks of. */
export interface Referent {
  thing: Thing;
  /** What the world calls it when somebody looks at it, and when somebody handles it. */
  fullName: string;
  name: string;
  /** "in bowl, in kitchen" */
  place: string;
  /** Whether the world describes it at all; if not, only its name is known. */
  isDescribed: boolean;
  /** Whether the state itself tells how it is now, and not only the map how it was in the beginning. */
  isUpToDate: boolean;
}

/**
 * Everything that the words can mean: none if the world rules it out, several if they are ambiguous.
 * The state is often no more than the last observation, so what was picked up earlier may be told nowhere.
 */
export function refer(scene: Scene, words: string, canBeCarried = true): Referent[] {
  const { room, carried, map, isPlaced, isSeen, told } = scene;
  const roomName = room?.name ?? "";
  const here = [
    ...findThings(carried, words).map((found) =>
      describe(found, `inventory, in agent, in ${roomName}`, true),
    ),
    ...findThings(room?.things ?? [], words).map((found) =>
      describe(found, roomName, isSeen || told.has(found.thing)),
    ),
  ];
  if (isPlaced && here.length > 0) return here;

  const elsewhere = [...map.rooms.values()].flatMap(({ things }) => findThings(things, words));
  const [guess] = [
    ...here,
    ...elsewhere
      .filter(({ thing }) => !isPlaced || (canBeCarried && !isFixture(thing)))
      .map((found) => describe(found, roomName, false)),
  ];
  if (guess !== undefined) return [guess];
  return isPlaced && !isMentioned(scene, words) ? [] : [imagine(scene.state, words, roomName)];
}

function describe({ thing, within }: Found, place: string, isUpToDate: boolean): Referent {
  return {
    thing,
    fullName: fullName(thing.phrase),
    name: shortName(thing.phrase),
    place: [...within, place].map((holder) => `in ${holder}`).join(", "),
    isDescribed: true,
    isUpToDate,
  };
}

/** A thing of which only the name is known, and what the state says in passing of its door. */
function imagine(state: string, words: string, place: string): Referent {
  const thing: Thing = { phrase: words, names: listNames(words), remark: "" };
  const name = fullName(words).toLowerCase();
  const told = state.toLowerCase();
  const openAt = told.lastIndexOf(`${name} is open`);
  const closedAt = told.lastIndexOf(`${name} is closed`);
  if (openAt !== closedAt) thing.door = openAt > closedAt ? "open" : "closed";
  return { ...describe({ thing, siblings: [], within: [] }, place, true), isDescribed: false };
}

/** The task may name what is yet to be found, so it does not count. */
function isMentioned({ state, task }: Scene, words: string): boolean {
  const told = task === "" ? state : state.replace(task, "");
  return told.toLowerCase().includes(fullName(words).toLowerCase());
}
