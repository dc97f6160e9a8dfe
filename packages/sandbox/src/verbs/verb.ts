import type { Referent } from "../refer.ts";
import type { Scene } from "../scene.ts";

/** An action on the whole scene, or with words that name no thing. */
export interface SceneVerb {
  pattern: RegExp;
  /** The next observation; undefined when the world knows no such action. */
  observe(scene: Scene, words: readonly string[]): string | undefined;
}

/** An action on things, one for each group of the pattern. They are found before it is performed. */
export interface ThingVerb {
  pattern: RegExp;
  /** The action as the world writes it out, with "_" for each thing. */
  form: string;
  /** Whether it takes a thing that stands in the room, and none that may be in the hand already. */
  isForRoomOnly?: boolean;
  /** The next observation. Of an action on one thing, the second is the same as the first. */
  perform(first: Referent, second: Referent): string;
}

export type Verb = SceneVerb | ThingVerb;
