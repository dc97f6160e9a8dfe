import { z } from "zod";
import { keyScopes, roles } from "./permissions.ts";

/** What a user may do in their account. */
export const Role = z.enum(roles);
export type Role = z.infer<typeof Role>;

/** What an API key may do, at most. */
export const KeyScope = z.enum(keyScopes);
export type KeyScope = z.infer<typeof KeyScope>;

/** The scopes of a key without repetitions, in a stable order. */
export function toKeyScopes(scopes: readonly KeyScope[]): KeyScope[] {
  return KeyScope.options.filter((scope) => scopes.includes(scope));
}

const descriptionOfRole =
  "`owner`: may do everything; `member`: may predict, evaluate and read; `viewer`: may read. It holds now, whatever a key was given.";

/** The role of the caller's user, in responses. */
export const roleField = Role.meta({ description: descriptionOfRole });

/** What the calling key may do, in responses. */
export const scopesField = z
  .array(KeyScope)
  .nullable()
  .meta({ description: "What the key may do, within its user's role; null: all that the role may." });
