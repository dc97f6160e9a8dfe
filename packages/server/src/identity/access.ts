import { type KeyScope, type Role, toKeyScopes } from "@presage/contract";
import { ServiceError } from "../errors.ts";
import type { Caller } from "./caller.ts";

/** What a route asks of its caller. */
export type Need =
  /** Every caller, whatever their role and scopes: what says who they are, and which models there are. */
  | "nothing"
  | "read"
  | "predict"
  | "evaluate"
  /** The caller's own keys and sessions. */
  | "own-access"
  /** What concerns everyone in the account. */
  | "manage";

interface Permission {
  roles: readonly Role[];
  /** The scope that a key needs if it has scopes; undefined: none. */
  scope: KeyScope | undefined;
}

/** Who may do what. docs/operating.md has it as a table. */
const permissions: Readonly<Record<Need, Permission>> = {
  nothing: { roles: ["owner", "member", "viewer"], scope: undefined },
  read: { roles: ["owner", "member", "viewer"], scope: "read" },
  predict: { roles: ["owner", "member"], scope: "predict" },
  evaluate: { roles: ["owner", "member"], scope: "evaluate" },
  "own-access": { roles: ["owner", "member", "viewer"], scope: "manage" },
  manage: { roles: ["owner"], scope: "manage" },
};

/** Refuses a caller whose role, or whose key's scopes, do not cover a need. */
export function checkAccess({ role, proof }: Pick<Caller, "role" | "proof">, need: Need): void {
  const { roles, scope } = permissions[need];
  if (!roles.includes(role))
    throw new ServiceError(
      "forbidden",
      `Your role is ${role}; this request needs the role ${roles.toReversed().join(" or ")}. An owner of your account can change your role.`,
    );
  const scopes = proof.kind === "key" ? proof.scopes : null;
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
  const own = proof.kind === "key" ? proof.scopes : null;
  if (own !== null && (scopes === null || scopes.some((scope) => !own.includes(scope))))
    throw new ServiceError(
      "forbidden",
      `This API key has the scopes ${listed(own)}, so it can only create keys with some of these scopes. Name them in "scopes".`,
    );
  const missing = scopes?.filter((scope) => !permissions[needOf(scope)].roles.includes(role)) ?? [];
  if (missing.length > 0)
    throw new ServiceError(
      "forbidden",
      `Your role is ${role}, so your keys cannot have the scope ${listed(missing)}.`,
    );
}

/** The least that a scope is good for. Everybody manages their own keys. */
function needOf(scope: KeyScope): Need {
  return scope === "manage" ? "own-access" : scope;
}

function listed(scopes: readonly KeyScope[]): string {
  return toKeyScopes(scopes)
    .map((scope) => `"${scope}"`)
    .join(", ");
}
