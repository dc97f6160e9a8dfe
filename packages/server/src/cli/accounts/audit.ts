import { AuditAction, AuditEventListQuery, readInstant } from "@presage/contract";
import type { Command } from "commander";
import { toAuditEvent } from "../../accounts/audit-log-route.ts";
import { getUser } from "../../accounts/users.ts";
import { selectAccount } from "../../accounts/users-store.ts";
import type { Config } from "../../config/config.ts";
import { type AuditFilter, type StoredAuditEvent, selectAuditEvents } from "../../platform/audit.ts";
import { toIsoInstant } from "../../platform/storage/columns.ts";
import { defined, printable } from "../../platform/words.ts";
import { CommandError, examples, json } from "../command.ts";
import { configure } from "../config.ts";
import { readAll, withDatabase } from "../connect.ts";
import { type Column, printList } from "../terminal.ts";

export function addAuditCommand(program: Command): void {
  program
    .command("audit")
    .description("list who changed what")
    .option("--action <action>", "only this action, such as api_key.create")
    .option("--user <user>", "only what this user did, by id or e-mail address")
    .option("--object <id>", "only what was done to this object")
    .option("--from <time>", "from this time, as a date or date-time")
    .option("--to <time>", "before this time")
    .option("--account <name>", "of this account; by default the owner's")
    .option("--limit <number>", "maximum number of events", "100")
    .option(...json)
    .addHelpText(
      ...examples(
        "presage audit",
        "presage audit --action user.change_role --from 2027-01-01",
        "presage audit --user ada@example.org --json",
      ),
    )
    .action(async (options) => listAuditEvents(configure(), options));
}

interface AuditOptions {
  action?: string;
  user?: string;
  object?: string;
  from?: string;
  to?: string;
  account?: string;
  limit: string;
  json?: boolean;
}

async function listAuditEvents(config: Config, options: AuditOptions): Promise<void> {
  const wanted = readWanted(options);
  const limit = readLimit(options.limit);
  await withDatabase(config, async ({ database, owner }) => {
    const user = options.user === undefined ? undefined : await getUser(database, options.user);
    const accountName = options.account;
    const account =
      accountName === undefined ? undefined : await selectAccount(database, "name", accountName);
    if (accountName !== undefined && account === undefined)
      throw new CommandError(`There is no account ${accountName}.`);
    const accountId = account?.id ?? user?.account_id ?? owner.account_id;
    const filter: AuditFilter = defined({ ...wanted, actorUserId: user?.id });
    const events = await readAll((page) => selectAuditEvents(database, accountId, filter, page), limit);
    printList(events, { columns, json: options.json, toJson: toAuditEvent });
  });
}

function readWanted({ action, object, from, to }: AuditOptions): AuditFilter {
  const known = action === undefined ? undefined : AuditAction.safeParse(action);
  if (known?.success === false)
    throw new CommandError(`--action takes one of ${AuditAction.options.join(", ")}.`);
  return defined({
    action: known?.data,
    objectId: object,
    from: readTime("--from", from),
    to: readTime("--to", to),
  });
}

function readTime(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (AuditEventListQuery.shape.from.safeParse(text).success) return readInstant(text);
  throw new CommandError(
    `${name} takes a date such as 2027-01-31, or a date-time such as 2027-01-31T12:00:00Z`,
  );
}

function readLimit(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new CommandError("--limit takes a whole number from 1 to 9999999");
}

/** The last columns are left out if the terminal is too narrow. */
const columns: readonly Column<StoredAuditEvent>[] = [
  {
    heading: "TIME",
    text: ({ created_at }) => toIsoInstant(created_at).slice(0, "2026-01-31T12:00:00".length),
  },
  { heading: "ACTION", text: ({ action }) => action },
  { heading: "BY", text: actorOf, canWrap: true },
  { heading: "OBJECT", text: ({ object_id }) => printable(object_id) },
  { heading: "DETAIL", text: ({ detail }) => printable(detail), canWrap: true },
  { heading: "REQUEST", text: ({ request_id }) => printable(request_id ?? "none") },
];

function actorOf({ actor_kind, actor_name, actor_user_id, email }: StoredAuditEvent): string {
  const who = email ?? actor_user_id;
  if (actor_kind === "command_line") return printable(`command line${actor_name ? ` (${actor_name})` : ""}`);
  if (actor_kind === "api_key") return printable(`${who}, key ${actor_name}`);
  return printable(who ?? "unknown");
}
