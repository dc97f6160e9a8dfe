import { changeRoleOf, findUser } from "../accounts/users.ts";
import { sessionRules } from "../app/compose-accounts.ts";
import type { Config } from "../config/config.ts";
import { changerFor } from "./command-line-actor.ts";
import { printNotice } from "./print-notice.ts";
import { readRole } from "./read-role.ts";
import { withDatabase } from "./with-database.ts";

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
