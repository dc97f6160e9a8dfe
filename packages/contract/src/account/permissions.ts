// The dashboard bundles this file too, so it imports nothing.

/** The roles that a user can have, the one that may do the most first. */
export const roles = ["owner", "member", "viewer"] as const;

/** What an API key may be restricted to. */
export const keyScopes = ["predict", "evaluate", "read", "manage"] as const;

/** What a route requires of its caller. */
export type Need =
  /** Open to every caller, whatever their role and scopes: who they are, and which models exist. */
  | "nothing"
  | "read"
  | "predict"
  | "evaluate"
  /** The caller's own keys and sessions. */
  | "own-access"
  /** Matters that concern everyone in the account. */
  | "manage";

interface Permission {
  roles: readonly (typeof roles)[number][];
  /** The scope that a key needs if it has scopes; undefined: none. */
  scope: (typeof keyScopes)[number] | undefined;
}

/** Who may do what. docs/operate/access.md has it as a table. */
export const permissions: Readonly<Record<Need, Permission>> = {
  nothing: { roles, scope: undefined },
  read: { roles, scope: "read" },
  predict: { roles: ["owner", "member"], scope: "predict" },
  evaluate: { roles: ["owner", "member"], scope: "evaluate" },
  "own-access": { roles, scope: "manage" },
  manage: { roles: ["owner"], scope: "manage" },
};

/** The scopes that a user with a role can give a key: those that let it do something. */
export function scopesOfRole(role: (typeof roles)[number]): (typeof keyScopes)[number][] {
  return keyScopes.filter((scope) =>
    Object.values(permissions).some(
      (permission) => permission.scope === scope && permission.roles.includes(role),
    ),
  );
}
