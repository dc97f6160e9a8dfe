import { sessionRules } from "../compose/compose-sign-in.ts";
import type { Config } from "../config.ts";
import { livenessNow } from "../identity/sessions/session-rules.ts";
import { endUser } from "../identity/users/end-user.ts";
import { findUserId } from "../identity/users/find-user-id.ts";
import { selectUsersAccess, type UserAccess } from "../identity/users/users-access-store.ts";
import { toIsoInstant } from "../storage/micros.ts";
import { counted } from "./counted.ts";
import { withDatabase } from "./with-database.ts";

export async function showUsers(config: Config): Promise<void> {
  await withDatabase(config, async ({ database }) => {
    const live = livenessNow(sessionRules(config.identity));
    for (const user of await selectUsersAccess(database, live))
      process.stdout.write(`${describeUser(user)}\n`);
  });
}

export async function endUserAccess(config: Config, idOrEmail: string): Promise<void> {
  await withDatabase(config, async ({ database }) => {
    const userId = await findUserId(database, idOrEmail);
    const { sessions, keys } = await endUser(database, userId);
    process.stdout.write(`Ended ${counted(sessions, "session")} and revoked ${counted(keys, "key")}.\n`);
    process.stderr.write(
      "Running servers reject the keys within 5 s. A user who can still sign in regains access: prevent that first.\n",
    );
  });
}

function describeUser(user: UserAccess): string {
  return [
    user.id,
    user.email === null ? "no e-mail" : quoted(user.email),
    user.name === null ? "no name" : quoted(user.name),
    quoted(user.oidc_issuer),
    `account ${quoted(user.account_name)}`,
    `created ${toIsoInstant(user.created_at)}`,
    counted(user.live_sessions, "live session"),
    counted(user.active_keys, "active key"),
  ].join("  ");
}

/** Escapes control characters: names of users and providers must not control the terminal. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\p{Cc}\p{Cf}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
