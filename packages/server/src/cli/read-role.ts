import { Role } from "@presage/contract";
import { CommandError } from "./command-error.ts";

export function readRole(text: string): Role {
  const role = Role.safeParse(text);
  if (role.success) return role.data;
  throw new CommandError(`The role is one of ${Role.options.join(", ")}.`);
}
