import { addLocalUser } from "../accounts/users.ts";
import type { Config } from "../config/config.ts";
import { CommandError } from "./command-error.ts";
import { changerFor } from "./command-line-actor.ts";
import { printNotice } from "./print-notice.ts";
import { readRole } from "./read-role.ts";
import { withDatabase } from "./with-database.ts";

const maxName = 200;
const maxEmail = 320;

/** Adds a user to the owner's account and prints their id. */
export async function addUser(
  config: Config,
  name: string,
  { role: wanted, email }: { role: string; email?: string },
): Promise<void> {
  const role = readRole(wanted);
  if (name.trim() === "" || name.length > maxName)
    throw new CommandError(`The name takes 1 to ${maxName} characters.`);
  if (email !== undefined && (!/^[^\s@]+@[^\s@]+$/.test(email) || email.length > maxEmail))
    throw new CommandError("--email takes an e-mail address.");
  await withDatabase(config, async ({ database, owner }) => {
    const newUser = { name, email: email ?? null, role };
    const userId = await addLocalUser(database, changerFor(owner), newUser);
    process.stdout.write(`${userId}\n`);
    const isLocalMode = config.identity.oidc === undefined;
    const link = `presage sign-in --user ${userId} prints a link that signs them in, once.`;
    const keys = `presage keys create --user ${userId} --name … makes a key for them.`;
    printNotice(isLocalMode ? `${link}\n${keys}` : `They cannot sign in at the OpenID provider. ${keys}`);
  });
}
