import type { Draw } from "./draw.ts";

/** Kinds of objects that responses contain and later requests refer to. */
export type ReferenceKind =
  | "apiKey"
  | "session"
  | "result"
  | "profile"
  | "profileName"
  | "revision"
  | "taxonomy"
  | "orsSession"
  | "orsTask"
  | "episode";

const pattern = /@@(\w+):(\d+)@@/g;

/** A placeholder for an id from an earlier response, replaced when the request is sent. */
export function reference(draw: Draw, kind: ReferenceKind): string {
  return `@@${kind}:${draw.below(1_000_000)}@@`;
}

/** Replaces the placeholders with what `find` returns. */
export function resolveReferences(
  text: string,
  find: (kind: ReferenceKind, number: number) => string,
): string {
  return text.replace(pattern, (_, kind: ReferenceKind, number: string) => find(kind, Number(number)));
}
