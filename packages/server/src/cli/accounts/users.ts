import { Role } from "@presage/contract";
import type { Command } from "commander";
import { livenessNow } from "../../accounts/sessions-store.ts";
import { addLocalUser, changeRoleOf, endUser, getUser } from "../../accounts/users.ts";
import { localIssuer, selectUsersAccess, type UserAccess } from "../../accounts/users-store.ts";
import { createSignInPath, sessionRules } from "../../app/compose-accounts.ts";
import { listenAddress } from "../../app/listen.ts";
import type { Config } from "../../config/config.ts";
import { browserAddress } from "../../http/pages.ts";
import { recordChange } from "../../platform/audit.ts";
import { toIsoInstant } from "../../platform/storage/columns.ts";
import { commandName, countOf, printable } from "../../platform/words.ts";
import { CommandError, changerFor, examples, json, printNotice } from "../command.ts";
import { configure } from "../config.ts";
import { findServer, withDatabase } from "../connect.ts";
import { atRight, type Column, dayOf, printList } from "../terminal.ts";

export function addUsersCommands(program: Command): void {
  const users = program
    .command("users")
    .summary("list, add, change or delete users")
    .description("list or add users, change roles, end all access of one, or delete one")
    .addHelpText(
      ...examples(
        "presage users list",
        "presage users role ada@example.org owner",
        "presage users end ada@example.org",
      ),
    );
  users
    .command("list")
    .description("list everyone who has ever signed in or was added, with live sessions and active keys")
    .option(...json)
    .addHelpText(...examples("presage users list", "presage users list --json"))
    .action(async (options) => showUsers(configure(), options));
  users
    .command("add <name>")
    .description(
      "add a user to the owner's account: someone who signs in with a link (local mode), or a service that only has keys",
    )
    .option("--role <role>", `${Role.options.join(", ")}`, "member")
    .option("--email <address>", "how commands and the audit log name the user")
    .addHelpText(
      ...examples(
        "presage users add Ada --email ada@example.org --role viewer",
        "presage sign-in --user ada@example.org",
      ),
    )
    .action(async (name: string, options) => addUser(configure(), name, options));
  users
    .command("role <user> <role>")
    .description(
      "change a user's role to owner, member or viewer; running servers apply it at once to sessions, within 5 s to keys",
    )
    .addHelpText(...examples("presage users role ada@example.org owner"))
    .action(async (user: string, role: string) => changeUserRole(configure(), user, role));
  users
    .command("end <user>")
    .description(
      "end all sessions and revoke all keys of a user, given by id or by an e-mail address that no other user has. A user who can still sign in at the OpenID provider regains access: end their access there first",
    )
    .addHelpText(
      ...examples(
        "presage users end ada@example.org",
        "presage users end 0199f3c4-6f7e-7a31-9d0b-5b1c2d3e4f50",
      ),
    )
    .action(async (user: string) => endUserAccess(configure(), user));
  users
    .command("erase <user>")
    .description(
      "delete a user with sessions and keys, and the account's data if no one else is in it; without --yes only list what that is",
    )
    .option("--yes", "delete it")
    .addHelpText(
      ...examples("presage users erase ada@example.org", "presage users erase --yes ada@example.org"),
    )
    .action(async (user: string, options) =>
      (await import("./erase.ts")).eraseUser(configure(), user, options),
    );
}

export function addSignInCommand(program: Command): void {
  program
    .command("sign-in")
    .description("print a one-time sign-in URL, in local mode")
    .option("--user <user>", "who signs in, by id or e-mail address; by default the owner")
    .addHelpText(...examples("presage sign-in", "presage sign-in --user ada@example.org"))
    .action(async (options) => printSignInAddress(configure(), options));
}

async function showUsers(config: Config, options: { json?: boolean }): Promise<void> {
  await withDatabase(config, async ({ database }) => {
    const live = livenessNow(sessionRules(config.identity));
    const users = await selectUsersAccess(database, live);
    printList(users, { columns: userColumns, json: options.json, toJson });
  });
}

/** The last columns are left out if the terminal is too narrow. */
const userColumns: readonly Column<UserAccess>[] = [
  { heading: "ID", text: ({ id }) => id },
  { heading: "E-MAIL", text: ({ email }) => printable(email ?? "none"), canWrap: true },
  { heading: "ROLE", text: ({ role }) => role },
  atRight("SESSIONS", ({ live_sessions }) => String(live_sessions)),
  atRight("KEYS", ({ active_keys }) => String(active_keys)),
  { heading: "NAME", text: ({ name }) => printable(name ?? "none"), canWrap: true },
  { heading: "CREATED", text: ({ created_at }) => dayOf(toIsoInstant(created_at)) },
  { heading: "ACCOUNT", text: ({ account_name }) => printable(account_name), canWrap: true },
  { heading: "PROVIDER", text: ({ oidc_issuer }) => printable(oidc_issuer), canWrap: true },
];

function toJson(user: UserAccess): object {
  return { ...user, created_at: toIsoInstant(user.created_at) };
}

const maxName = 200;
const maxEmail = 320;

/** Adds a user to the owner's account and prints their id. */
async function addUser(
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
    const link = `${commandName} sign-in --user ${userId} prints a link that signs them in, once.`;
    const keys = `${commandName} keys create --user ${userId} --name … makes a key for them.`;
    printNotice(isLocalMode ? `${link}\n${keys}` : `They cannot sign in at the OpenID provider. ${keys}`);
  });
}

/** Also the way back in if no owner of an account can sign in. */
async function changeUserRole(config: Config, idOrEmail: string, wanted: string): Promise<void> {
  const role = readRole(wanted);
  await withDatabase(config, async ({ database }) => {
    const user = await getUser(database, idOrEmail);
    const { issuer } = sessionRules(config.identity);
    await changeRoleOf(database, changerFor(user), { userId: user.id, role, issuer });
    process.stdout.write(`The user is ${role === "owner" ? "an" : "a"} ${role} now.\n`);
    printNotice("Running servers apply it at once to sessions, and within 5 s to keys.");
  });
}

function readRole(text: string): Role {
  const role = Role.safeParse(text);
  if (role.success) return role.data;
  throw new CommandError(`The role is one of ${Role.options.join(", ")}.`);
}

async function endUserAccess(config: Config, idOrEmail: string): Promise<void> {
  await withDatabase(config, async ({ database }) => {
    const user = await getUser(database, idOrEmail);
    const { sessions, keys } = await endUser(database, changerFor(user), user.id);
    process.stdout.write(`Ended ${countOf(sessions, "session")} and revoked ${countOf(keys, "key")}.\n`);
    const { oidc } = config.identity;
    printNotice("Running servers reject the keys within 5 s.");
    if (oidc !== undefined) {
      printNotice(
        `A user who can still sign in at ${oidc.issuer} regains access. Block them there, then run this command again.`,
      );
    }
  });
}

/** Prints a new one-time link that signs a browser in, as the owner or as an added user. */
async function printSignInAddress(config: Config, { user }: { user?: string }): Promise<void> {
  const { listen, identity } = config;
  if (identity.oidc !== undefined) {
    throw new CommandError(
      `Users sign in at ${identity.oidc.issuer} (PRESAGE_OIDC_ISSUER); sign-in links are for local mode only.`,
    );
  }
  await withDatabase(config, async (store) => {
    const { running, noted, isTaken } = await findServer(store.database, config);
    const publicUrl = listen.publicUrl ?? running ?? noted[0] ?? configuredAddress(listen);
    // A server on another database would receive the token.
    if (await isTaken(publicUrl)) {
      throw new CommandError(
        `The server that answers at ${publicUrl} is not on this database, so no sign-in URL was made. Start one on this database first.`,
      );
    }
    const signedIn = user === undefined ? store.owner : await getUser(store.database, user);
    if (signedIn.oidc_issuer !== localIssuer)
      throw new CommandError("This user signs in at an OpenID provider, not with a link.");
    const path = await store.database.transaction().execute(async (database) => {
      await recordChange(database, changerFor(signedIn), "user.create_sign_in_link", signedIn.id);
      return await createSignInPath({ database, owner: signedIn });
    });
    process.stdout.write(`${publicUrl}${path}\n`);
    printNotice("The link works once, within 12 hours.");
    if (running === undefined) printNotice(`${explainNoServer(noted)} Start it first.`);
  });
}

/** Where the server will be reached once it runs. */
function configuredAddress({ host, port }: Config["listen"]): string {
  if (port !== 0) return browserAddress(listenAddress(host, port));
  throw new CommandError(
    "No server is running on this database, and PRESAGE_PORT is 0, so the link is unknown. Start the server, or set PRESAGE_PUBLIC_URL.",
  );
}

/** Every server is noted when it starts; a crashed one still is. */
function explainNoServer(noted: readonly string[]): string {
  if (noted.length === 0) return "No server is running on this database.";
  return `The server on this database does not answer at ${noted.join(" or ")}.`;
}
