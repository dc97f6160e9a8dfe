import { expect, test } from "bun:test";
import { roles, scopesOfRole } from "./permissions.ts";

test("A viewer gives a key only scopes to read and to manage their own keys", () => {
  expect(roles.map((role) => [role, scopesOfRole(role)])).toEqual([
    ["owner", ["predict", "evaluate", "read", "manage"]],
    ["member", ["predict", "evaluate", "read", "manage"]],
    ["viewer", ["read", "manage"]],
  ]);
});
