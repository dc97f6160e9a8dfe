import type { Scene } from "../scene.ts";
import {
  type Found,
  findThings,
  fullName,
  isFixture,
  listNames,
  shortName,
  type Thing,
} from "../world/thing.ts";

/** An action on the whole scene, or with words that do not name a thing. */
interface SceneVerb {
  pattern: RegExp;
  /** The next observation; undefined if the world has no such action. */
  observe(scene: Scene, words: readonly string[]): string | undefined;
}

/** An action on things, one for each group of the pattern. The things are resolved before it is performed. */
export interface ThingVerb {
  pattern: RegExp;
  /** The action as the world writes it out, with "_" for each thing. */
  form: string;
  /** Whether it applies only to things in the room, not to things that the agent may already hold. */
  isForRoomOnly?: boolean;
  /** The next observation. For an action on one thing, `second` equals `first`. */
  perform(first: Referent, second: Referent): string;
}

export type Verb = SceneVerb | ThingVerb;

/** A thing that an action refers to. */
export interface Referent {
  thing: Thing;
  /** Its name when the agent looks at it, and when the agent handles it. */
  fullName: string;
  name: string;
  /** "in bowl, in kitchen" */
  place: string;
  /** Whether the world describes it; otherwise only its name is known. */
  isDescribed: boolean;
  /** Whether its condition is known from the state, and not only from the map, which shows the beginning. */
  isUpToDate: boolean;
}

/**
 * Everything that the words can mean: nothing if the world rules it out, several things if they are ambiguous.
 * The state is often just the last observation, so it may not mention things that were picked up earlier.
 */
export function refer(scene: Scene, words: string, canBeCarried = true): Referent[] {
  const { room, carried, map, isPlaced, isSeen, upToDate } = scene;
  const roomName = room?.name ?? "";
  const here = [
    ...findThings(carried, words).map((found) =>
      describe(found, `inventory, in agent, in ${roomName}`, true),
    ),
    ...findThings(room?.things ?? [], words).map((found) =>
      describe(found, roomName, isSeen || upToDate.has(found.thing)),
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

/** A thing known only by name, and possibly from a mention of its door in the state. */
function imagine(state: string, words: string, place: string): Referent {
  const thing: Thing = { phrase: words, names: listNames(words), remark: "" };
  const name = fullName(words).toLowerCase();
  const text = state.toLowerCase();
  const openAt = text.lastIndexOf(`${name} is open`);
  const closedAt = text.lastIndexOf(`${name} is closed`);
  if (openAt !== closedAt) thing.door = openAt > closedAt ? "open" : "closed";
  return { ...describe({ thing, siblings: [], within: [] }, place, true), isDescribed: false };
}

/** The task may name things that have not been found yet, so it does not count. */
function isMentioned({ state, task }: Scene, words: string): boolean {
  const text = task === "" ? state : state.replace(task, "");
  return text.toLowerCase().includes(fullName(words).toLowerCase());
}
