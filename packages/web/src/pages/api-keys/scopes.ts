import type { KeyScope, Role } from "@presage/sdk";

export const scopeWords: Record<KeyScope, string> = {
  predict: "Predict, play episodes",
  evaluate: "Evaluate, change datasets and runs",
  read: "Read",
  manage: "Manage keys and the account",
};

/** The scopes that a user of a role can give a key. */
export function offeredScopes(role: Role | undefined): KeyScope[] {
  return role === "viewer" ? ["read", "manage"] : ["predict", "evaluate", "read", "manage"];
}
