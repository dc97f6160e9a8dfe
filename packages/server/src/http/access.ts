import { type KeyScope, type Need, permissions, scopesOfRole, toKeyScopes } from "@presage/contract";
import { ServiceError } from "../platform/errors.ts";
import type { Caller } from "./caller.ts";

/** Refuses a caller whose role, or whose key's scopes, do not cover a need. */
export function checkAccess({ role, proof }: Pick<Caller, "role" | "proof">, need: Need): void {
  const { roles, scope } = permissions[need];
  if (!roles.includes(role))
    throw new ServiceError(
      "forbidden",
      `Your role is ${role}; this request needs the role ${roles.toReversed().join(" or ")}. An owner of your account can change your role.`,
    );
  const scopes = proof.kind === "session" ? null : proof.scopes;
  if (scopes === null || scope === undefined || scopes.includes(scope)) return;
  throw new ServiceError(
    "forbidden",
    `This API key does not have the scope "${scope}"; it has ${listed(scopes)}. Use a key with that scope.`,
  );
}

/** Refuses scopes of a new key that its creator does not have: a key never creates one that can do more. */
export function checkNewScopes(
  { role, proof }: Pick<Caller, "role" | "proof">,
  scopes: KeyScope[] | null,
): void {
  const own = proof.kind === "session" ? null : proof.scopes;
  if (own !== null && (scopes === null || scopes.some((scope) => !own.includes(scope))))
    throw new ServiceError(
      "forbidden",
      `This API key has the scopes ${listed(own)}, so it can only create keys with some of these scopes. Name them in "scopes".`,
    );
  const allowed = scopesOfRole(role);
  const missing = scopes?.filter((scope) => !allowed.includes(scope)) ?? [];
  if (missing.length > 0)
    throw new ServiceError(
      "forbidden",
      `Your role is ${role}, so your keys cannot have the scope ${listed(missing)}.`,
    );
}

function listed(scopes: readonly KeyScope[]): string {
  return toKeyScopes(scopes)
    .map((scope) => `"${scope}"`)
    .join(", ");
}
