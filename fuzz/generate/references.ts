import type { Draw } from "./draw.ts";

/** What requests name and answers tell. */
export type ReferenceKind =
  | "apiKey"
  | "session"
  | "result"
  | "profile"
  | "profileName"
  | "revision"
  | "taxonomy";

const pattern = /@@(\w+):(\d+)@@/g;

/** Stands in a request for something that an earlier answer told, until the request is sent. */
export function reference(draw: Draw, kind: ReferenceKind): string {
  return `@@${kind}:${draw.below(1_000_000)}@@`;
}

/** Puts in what `find` knows. */
export function resolveReferences(
  text: string,
  find: (kind: ReferenceKind, number: number) => string,
): string {
  return text.replace(pattern, (_, kind: ReferenceKind, number: string) => find(kind, Number(number)));
}
