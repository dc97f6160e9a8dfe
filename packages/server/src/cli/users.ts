import { livenessNow } from "../accounts/sessions-store.ts";
import { endUser, findUser } from "../accounts/users.ts";
import { selectUsersAccess, type UserAccess } from "../accounts/users-store.ts";
import { sessionRules } from "../app/compose-accounts.ts";
import type { Config } from "../config/config.ts";
import { toIsoInstant } from "../platform/storage/columns.ts";
import { countOf, printable } from "../platform/words.ts";
import { changerFor } from "./command-line-actor.ts";
import { printList } from "./print-list.ts";
import { printNotice } from "./print-notice.ts";
import type { Column } from "./text-table.ts";
import { withDatabase } from "./with-database.ts";

export async function showUsers(config: Config, options: { json?: boolean }): Promise<void> {
  await withDatabase(config, async ({ database }) => {
    const live = livenessNow(sessionRules(config.identity));
    const users = await selectUsersAccess(database, live);
    printList(users, { columns: userColumns, json: options.json ? toJson : undefined });
  });
}

export async function endUserAccess(config: Config, idOrEmail: string): Promise<void> {
  await withDatabase(config, async ({ database }) => {
    const user = await findUser(database, idOrEmail);
    const { sessions, keys } = await endUser(database, changerFor(user), user.id);
    process.stdout.write(`Ended ${countOf(sessions, "session")} and revoked ${countOf(keys, "key")}.\n`);
    const { oidc } = config.identity;
    printNotice("Running servers reject the keys within 5 s.");
    if (oidc !== undefined) {
      printNotice(
        `A user who can still sign in at ${oidc.issuer} regains access. If that is possible, prevent it there and run this command again.`,
      );
    }
  });
}

/** The last ones are left out where a terminal is too narrow. */
const userColumns: readonly Column<UserAccess>[] = [
  { heading: "ID", text: ({ id }) => id },
  { heading: "E-MAIL", text: ({ email }) => printable(email ?? "none"), canWrap: true },
  { heading: "ROLE", text: ({ role }) => role },
  { heading: "SESSIONS", text: ({ live_sessions }) => String(live_sessions), align: "right" },
  { heading: "KEYS", text: ({ active_keys }) => String(active_keys), align: "right" },
  { heading: "NAME", text: ({ name }) => printable(name ?? "none"), canWrap: true },
  { heading: "CREATED", text: ({ created_at }) => toIsoInstant(created_at).slice(0, "2026-01-31".length) },
  { heading: "ACCOUNT", text: ({ account_name }) => printable(account_name), canWrap: true },
  { heading: "PROVIDER", text: ({ oidc_issuer }) => printable(oidc_issuer), canWrap: true },
];

function toJson(user: UserAccess): object {
  return { ...user, created_at: toIsoInstant(user.created_at) };
}
