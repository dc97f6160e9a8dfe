import { sessionRules } from "../../compose/compose-sign-in.ts";
import type { Config } from "../../config/config.ts";
import { changeRoleOf } from "../../identity/users/change-role.ts";
import { findUser } from "../../identity/users/find-user.ts";
import { changerFor } from "../command-line-actor.ts";
import { printNotice } from "../terminal/print-notice.ts";
import { withDatabase } from "../with-database.ts";
import { readRole } from "./read-role.ts";

/** The way back in as well, if an account has no owner who can sign in. */
export async function changeUserRole(config: Config, idOrEmail: string, wanted: string): Promise<void> {
  const role = readRole(wanted);
  await withDatabase(config, async ({ database }) => {
    const user = await findUser(database, idOrEmail);
    const { issuer } = sessionRules(config.identity);
    await changeRoleOf(database, changerFor(user), { userId: user.id, role, issuer });
    process.stdout.write(`The user is ${role === "owner" ? "an" : "a"} ${role} now.\n`);
    printNotice("Running servers apply it at once to sessions, and within 5 s to keys.");
  });
}
