import {
  ApiKeyCreateRequest,
  ApiKeyUpdateRequest,
  CaptureSetting,
  KeyScope,
  toKeyScopes,
} from "@presage/contract";
import type { Command } from "commander";
import { z } from "zod";
import {
  addApiKey,
  changeKeySettingsOf,
  checkExpiry,
  ExpiryError,
  parseExpiry,
  recordNewKey,
  revokeKeyOf,
} from "../../accounts/api-keys.ts";
import { toApiKeyResponse } from "../../accounts/api-keys-route.ts";
import {
  type ApiKey,
  type ChangedSettings,
  selectApiKeys,
  readScopes as storedScopes,
} from "../../accounts/api-keys-store.ts";
import { getUser } from "../../accounts/users.ts";
import { lockUsers, type User } from "../../accounts/users-store.ts";
import type { OpenedStore } from "../../app/storage.ts";
import type { Config } from "../../config/config.ts";
import { type Micros, nowMicros, toIsoInstant } from "../../platform/storage/columns.ts";
import { defined, printable } from "../../platform/words.ts";
import { CommandError, changerFor, examples, json, printNotice } from "../command.ts";
import { configure } from "../config.ts";
import { readAll, withDatabase } from "../connect.ts";
import { type Column, dayOf, printList } from "../terminal.ts";

const rateLimit = ["--rate-limit-rpm <number>", "requests per minute; none for the server's limit"] as const;
const maxInFlight = ["--max-in-flight <number>", "concurrent requests; none for the server's limit"] as const;

const capture = [
  "--capture <setting>",
  "which predictions are stored: off, failures, all, a share such as 0.01; default for the server's setting",
] as const;

const user = ["--user <user>", "whose key, by id or e-mail address; by default the owner's"] as const;

export function addKeysCommands(program: Command): void {
  const keys = program
    .command("keys")
    .description("create, list, change or revoke API keys")
    .addHelpText(...examples("presage keys create --name training --expires-at 30d", "presage keys list"));
  keys
    .command("create")
    .description("create a key and print it once")
    .requiredOption("--name <name>", "what the key is for")
    .option(
      "--expires-at <time>",
      "when it expires: a time from now (m, h, d, w, y), a date, or a date-time; without it, never",
    )
    .option(...rateLimit)
    .option(...maxInFlight)
    .option(...capture)
    .option(
      "--scopes <list>",
      "what the key may do: predict, evaluate, read, manage, separated by commas; without it, all that its user may",
    )
    .option(...user)
    .addHelpText(
      ...examples(
        "presage keys create --name training",
        "presage keys create --name trial --expires-at 12h",
        "presage keys create --name 2026 --expires-at 2027-01-01",
        "presage keys create --name noon --expires-at 2027-01-31T12:00:00Z",
        "presage keys create --name notebook --rate-limit-rpm 60 --max-in-flight 4",
        "presage keys create --name agent --scopes predict,read --user ada@example.org",
      ),
    )
    .action(async (options) => createKey(configure(), options));
  keys
    .command("list")
    .description("list the keys, newest first")
    .option(...json)
    .option(...user)
    .addHelpText(...examples("presage keys list", "presage keys list --json"))
    .action(async (options) => listKeys(configure(), options));
  keys
    .command("update <id>")
    .description(
      "change the limits of a key, or which of its predictions are stored; running servers apply it within 5 s",
    )
    .option(...rateLimit)
    .option(...maxInFlight)
    .option(...capture)
    .option(...user)
    .addHelpText(
      ...examples(
        "presage keys update 0199f3c4-6f7e-7a31-9d0b-5b1c2d3e4f50 --rate-limit-rpm 60",
        "presage keys update 0199f3c4-6f7e-7a31-9d0b-5b1c2d3e4f50 --capture failures",
      ),
    )
    .action(async (id: string, options) => updateKey(configure(), id, options));
  keys
    .command("revoke <id>")
    .description("revoke a key; running servers reject it within 5 s")
    .option(...user)
    .addHelpText(...examples("presage keys revoke 0199f3c4-6f7e-7a31-9d0b-5b1c2d3e4f50"))
    .action(async (id: string, options) => revokeKey(configure(), id, options));
}

async function createKey(
  config: Config,
  options: { name: string; expiresAt?: string; scopes?: string } & SettingOptions & UserOption,
): Promise<void> {
  const { name } = options;
  if (!ApiKeyCreateRequest.shape.name.safeParse(name).success)
    throw new CommandError("--name takes 1 to 120 characters");
  const expiresAt = options.expiresAt === undefined ? null : readExpiry(options.expiresAt);
  const settings = readSettings(options);
  const scopes = readScopes(options.scopes);
  await withDatabase(config, async (store) => {
    const { database, keyDigest } = store;
    const user = await userOf(store, options);
    const newKey = { userId: user.id, name, expiresAt, scopes, settings };
    const { key, id } = await database.transaction().execute(async (transaction) => {
      await lockUsers(transaction, [user.id]);
      const created = await addApiKey(transaction, keyDigest, newKey);
      await recordNewKey(transaction, changerFor(user), newKey, created.id);
      return created;
    });
    process.stdout.write(`${key}\n`);
    const expiry = expiresAt === null ? "It does not expire." : `It expires at ${expiresAt.toISOString()}.`;
    printNotice(`The key is not shown again. Its id is ${id}.\n${expiry}`);
  });
}

/** Changes the settings of a key; settings that are not given stay. */
async function updateKey(config: Config, id: string, options: SettingOptions & UserOption): Promise<void> {
  const settings = readSettings(options);
  if (Object.keys(settings).length === 0)
    throw new CommandError("Name a setting to change: --rate-limit-rpm, --max-in-flight or --capture.");
  await withDatabase(config, async (store) => {
    const user = await userOf(store, options);
    const change = { userId: user.id, keyId: id.toLowerCase(), settings };
    await changeKeySettingsOf(store.database, changerFor(user), change);
    process.stdout.write("Changed. Running servers apply it within 5 s.\n");
  });
}

async function listKeys(config: Config, options: { json?: boolean } & UserOption): Promise<void> {
  await withDatabase(config, async (store) => {
    const user = await userOf(store, options);
    const keys = await readAll((page) => selectApiKeys(store.database, { userId: user.id }, page));
    printList(keys, { columns: keyColumns, json: options.json, toJson: toApiKeyResponse });
  });
}

async function revokeKey(config: Config, id: string, options: UserOption): Promise<void> {
  await withDatabase(config, async (store) => {
    const user = await userOf(store, options);
    await revokeKeyOf(store.database, changerFor(user), user.id, id.toLowerCase());
    process.stdout.write("Revoked.\n");
  });
}

interface UserOption {
  user?: string;
}

async function userOf({ database, owner }: OpenedStore, { user }: UserOption): Promise<User> {
  return user === undefined ? owner : await getUser(database, user);
}

/** Null: everything that the user may do. */
function readScopes(text: string | undefined): KeyScope[] | null {
  if (text === undefined) return null;
  const scopes = z.array(KeyScope).safeParse(text.split(",").map((scope) => scope.trim()));
  if (scopes.success) return toKeyScopes(scopes.data);
  throw new CommandError(`--scopes takes one or more of ${KeyScope.options.join(", ")}, separated by commas`);
}

interface SettingOptions {
  rateLimitRpm?: string;
  maxInFlight?: string;
  capture?: string;
}

function readSettings({ rateLimitRpm, maxInFlight, capture }: SettingOptions): ChangedSettings {
  return defined({
    rate_limit_rpm: readLimit("--rate-limit-rpm", rateLimitRpm),
    max_in_flight: readLimit("--max-in-flight", maxInFlight),
    capture: readCapture(capture),
  });
}

/** Null for `default`: the server's setting. */
function readCapture(text: string | undefined): string | null | undefined {
  if (text === undefined) return undefined;
  if (text === "default") return null;
  if (CaptureSetting.safeParse(text).success) return text;
  throw new CommandError(
    "--capture takes off, failures, all, a share from 0 to 1 such as 0.01, or default for the server's setting",
  );
}

/** Null for `none`: the server's limit. */
function readLimit(name: string, text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === "none") return null;
  const limit = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (ApiKeyUpdateRequest.shape.max_in_flight.safeParse(limit).success) return limit;
  throw new CommandError(`${name} takes a whole number from 1 to 1000000000, or none for the server's limit`);
}

const dayMs = 86_400_000;
const unitMs: Record<string, number> = { m: 60_000, h: 3_600_000, d: dayMs, w: 7 * dayMs, y: 365 * dayMs };

/** The instant of `--expires-at`: from now, as in `30d`; a date, which is its first moment in UTC; or a date-time. */
function readExpiry(text: string): Date {
  const [, count, unit = ""] = /^(\d{1,9})([mhdwy])$/.exec(text) ?? [];
  const ms = unitMs[unit];
  try {
    if (count !== undefined && ms !== undefined)
      return checkExpiry(new Date(Date.now() + Number(count) * ms));
    const dateTime = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text;
    if (ApiKeyCreateRequest.shape.expires_at.safeParse(dateTime).success) return parseExpiry(dateTime);
  } catch (error) {
    throw error instanceof ExpiryError ? new CommandError(`--expires-at: ${error.message}`) : error;
  }
  throw new CommandError(
    "--expires-at takes a time from now such as 12h, 30d or 1y, a date such as 2027-01-31, or a date-time such as 2027-01-31T12:00:00Z",
  );
}

/** The last columns are left out if the terminal is too narrow. */
const keyColumns: readonly Column<ApiKey>[] = [
  { heading: "ID", text: ({ id }) => id },
  { heading: "NAME", text: ({ name }) => printable(name), canWrap: true },
  { heading: "STATE", text: stateOf },
  { heading: "EXPIRES", text: ({ expires_at }) => day(expires_at) },
  { heading: "LAST USED", text: ({ last_used_at }) => day(last_used_at) },
  { heading: "CREATED", text: ({ created_at }) => day(created_at) },
  { heading: "SCOPES", text: ({ scopes }) => (scopes === null ? "all" : storedScopes(scopes).join(", ")) },
  { heading: "LIMITS", text: limitsOf },
  { heading: "CAPTURE", text: ({ capture }) => capture ?? "server's" },
  { heading: "KEY", text: ({ prefix, last_four }) => `${prefix}…${last_four}` },
];

function stateOf({ revoked_at, expires_at }: ApiKey): string {
  if (revoked_at !== null) return "revoked";
  return expires_at !== null && expires_at <= nowMicros() ? "expired" : "active";
}

function limitsOf({ rate_limit_rpm, max_in_flight }: ApiKey): string {
  const rate = rate_limit_rpm === null ? [] : [`${rate_limit_rpm}/min`];
  const inFlight = max_in_flight === null ? [] : [`${max_in_flight} at once`];
  return [...rate, ...inFlight].join(", ") || "server's";
}

function day(instant: Micros | null): string {
  return instant === null ? "never" : dayOf(toIsoInstant(instant));
}
