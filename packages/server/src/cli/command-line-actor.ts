import { userInfo } from "node:os";
import type { User } from "../accounts/users-store.ts";
import type { Actor, Changer } from "../platform/audit.ts";

/** A command on the server's machine, in the audit log. */
export function commandLineActor(): Actor {
  return { kind: "command_line", userId: null, id: null, name: userName(), requestId: null };
}

/** The command line as the actor of changes in a user's account. */
export function changerFor(user: Pick<User, "account_id">): Pick<Changer, "accountId" | "actor"> {
  return { accountId: user.account_id, actor: commandLineActor() };
}

/** In a container there may be a number and no name. */
function userName(): string | null {
  try {
    const { username, uid } = userInfo();
    // What Bun says where no variable has the name.
    return username === "unknown" ? `user ${uid}` : username;
  } catch {
    return null;
  }
}
