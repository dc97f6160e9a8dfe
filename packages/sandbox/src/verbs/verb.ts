import type { Referent } from "../refer.ts";
import type { Scene } from "../scene.ts";

/** An action on the whole scene, or with words that do not name a thing. */
export interface SceneVerb {
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
