import { recordChange } from "../../audit/record-change.ts";
import type { Config } from "../../config.ts";
import { countOf } from "../../count-of.ts";
import { eraseResults } from "../../evaluation/results/delete/erase-results.ts";
import { endUser } from "../../identity/users/end-user.ts";
import { ownerSubject } from "../../identity/users/ensure-owner.ts";
import { countOtherUsers, countRowsOfUser, deleteUserRows } from "../../identity/users/erased-users-store.ts";
import { findUser } from "../../identity/users/find-user.ts";
import { hasOtherOwner } from "../../identity/users/members-store.ts";
import { localIssuer, type User } from "../../identity/users/users-store.ts";
import { printable } from "../../printable.ts";
import { countRowsOf } from "../../storage/account-data/account-rows-store.ts";
import { eraseRows } from "../../storage/account-data/erase-rows.ts";
import type { Database } from "../../storage/schema/tables.ts";
import { CommandError } from "../command-error.ts";
import { changerFor } from "../command-line-actor.ts";
import { printNotice } from "../terminal/print-notice.ts";
import { withDatabase } from "../with-database.ts";

/**
 * Deletes a user, and everything of the account if nobody else is in it. Access ends first, the user is deleted last: a command that is
 * interrupted can be repeated.
 */
export async function eraseUser(
  config: Config,
  idOrEmail: string,
  { yes = false }: { yes?: boolean },
): Promise<void> {
  await withDatabase(config, async ({ database }) => {
    const user = await findUser(database, idOrEmail);
    const others = await countOtherUsers(database, user);
    const isAlone = others === 0;
    await refuseNeeded(database, user, isAlone);
    const counted = await countRowsOfUser(database, user.id);
    if (isAlone) {
      for (const [table, rows] of await countRowsOf(database, user.account_id)) counted.set(table, rows);
    }
    print(`${printable(user.email ?? user.name ?? user.id)}: what is to be deleted`, counted);
    const whose = isAlone
      ? "Nobody else is in the account, which is deleted with the user."
      : `The account's data stays: it has ${countOf(others, "other user")}.`;
    printNotice(whose, process.stdout);
    if (!yes) {
      printNotice("Nothing was deleted. With --yes, it is.", process.stdout);
      return;
    }
    await endUser(database, changerFor(user), user.id);
    const erased = new Map<string, number>();
    if (isAlone) {
      erased.set("evaluation_results", await eraseResults(database, user.account_id));
      for (const [table, rows] of await eraseRows(database, user.account_id)) erased.set(table, rows);
    }
    const own = await database.transaction().execute(async (transaction) => {
      if (!isAlone)
        await recordChange(transaction, changerFor(user), { action: "user.erase", objectId: user.id });
      return await deleteUserRows(transaction, user, isAlone);
    });
    print("Deleted", new Map([...erased, ...own]));
    if (config.identity.oidc !== undefined)
      printNotice(
        `A user who can still sign in at ${config.identity.oidc.issuer} is made anew. If that is possible, prevent it there.`,
      );
  });
}

/** Those without whom nobody could manage Presage or the account. */
async function refuseNeeded(database: Database, user: User, isAlone: boolean): Promise<void> {
  const isLocal = user.oidc_issuer === localIssuer;
  if (isLocal && user.oidc_subject === ownerSubject)
    throw new CommandError(
      "The owner is made by Presage itself and is nobody's name. Delete results, runs and datasets one by one.",
    );
  if (isAlone || user.role !== "owner") return;
  if (await hasOtherOwner(database, user.account_id, user.id, isLocal)) return;
  throw new CommandError(
    "Nobody else who can sign in is an owner of this account. Make somebody else an owner first, with `presage users role`.",
  );
}

function print(heading: string, rows: ReadonlyMap<string, number>): void {
  const lines = [...rows].filter(([, count]) => count > 0).map(([table, count]) => `  ${table}: ${count}`);
  process.stdout.write([`${heading}:`, ...(lines.length === 0 ? ["  nothing"] : lines), ""].join("\n"));
}
