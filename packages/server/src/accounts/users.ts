import {
  Member,
  MemberListQuery,
  MemberListResponse,
  MemberPath,
  MemberUpdateRequest,
  MeResponse,
  type Role,
  WhoAmIResponse,
} from "@presage/contract";
import packageJson from "../../package.json" with { type: "json" };
import { accessChangerOf } from "../http/call.ts";
import type { AccessChanger, Caller } from "../http/caller.ts";
import { errorResponse, noSuch, page, response } from "../http/describe.ts";
import { readKeysetPage, toCursor } from "../http/request.ts";
import { reply, route } from "../http/route.ts";
import { type Author, recordChange } from "../platform/audit.ts";
import { conflict, notFound, ServiceError } from "../platform/errors.ts";
import { isoInstantOrNull, nowMicros, toIsoInstant } from "../platform/storage/columns.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Store } from "../platform/storage/store.ts";
import { markAllRevoked } from "./api-keys-store.ts";
import { accessWriter, checkRoleNow, type KeyChangeServices, lockCaller } from "./change-access.ts";
import examples from "./examples.json" with { type: "json" };
import { markAllEnded, markSignInTokensUsed } from "./sessions-store.ts";
import {
  type Account,
  deleteSharesBy,
  hasOtherOwner,
  insertUser,
  insertUserWithAccount,
  localIssuer,
  lockAccount,
  lockUsers,
  type Member as MemberRow,
  selectAccount,
  selectDigestsOf,
  selectMembers,
  selectUser,
  selectUserByIdentity,
  selectUsers,
  type User,
  updateRole,
} from "./users-store.ts";

interface MeServices {
  store: Store;
  settings: { capture: Readonly<{ setting: string; maxAgeDays: number }> };
}

interface RoleChange {
  userId: string;
  role: Role;
  /** The configured issuer: its users can sign in. */
  issuer: string;
}

const getMe = route("GET", "/v1/me", {
  needs: "nothing",
  id: "getMe",
  summary: "Show the calling user",
  description: "Shows the user that the key or session of the request belongs to.",
  responses: {
    "200": response("The user", MeResponse, examples.me),
    "404": errorResponse("The calling user no longer exists", "The calling user no longer exists."),
  },
  async handle({ store, settings }: MeServices, { call }) {
    const user = await selectUser(store.database, call.caller.userId);
    if (user === undefined) throw new ServiceError("not_found", "The calling user no longer exists.");
    const { id, email, name, oidc_issuer, oidc_subject, role } = user;
    const { setting, maxAgeDays } = settings.capture;
    const capture = { setting, max_age_days: maxAgeDays };
    const server_version = packageJson.version;
    return reply(200, { id, email, name, oidc_issuer, oidc_subject, role, capture, server_version });
  },
});

const whoAmI = route("GET", "/v1/whoami", {
  needs: "nothing",
  id: "whoAmI",
  summary: "Show the calling key and its account",
  description: "Shows the key or session of the request, and the account that it belongs to.",
  responses: {
    "200": response("The key and the account", WhoAmIResponse, examples.whoami),
    "404": errorResponse("The key's account no longer exists", "The caller's account no longer exists."),
  },
  async handle({ store }: { store: Store }, { call }) {
    const account = await selectAccount(store.database, "id", call.caller.accountId);
    if (account === undefined) throw new ServiceError("not_found", "The caller's account no longer exists.");
    const { id, name } = account;
    return reply(200, toWhoAmI(call.caller, { id, name }));
  },
});

const listMembers = route("GET", "/v1/members", {
  needs: "manage",
  id: "listMembers",
  summary: "List the users of the account",
  description: "Lists the users of the caller's account with their roles. For owners.",
  query: MemberListQuery,
  allowsUnknown: true,
  responses: { "200": response("The users, newest first", MemberListResponse, page(examples.member)) },
  async handle({ store }: { store: Store }, { requester, query }) {
    const reader = store.briefReader(requester);
    const { rows, next } = await selectMembers(reader, requester.accountId, readKeysetPage(query));
    const data = rows.map(({ last_seen_at, active_keys, ...member }) => ({
      ...toMember(member),
      last_seen_at: isoInstantOrNull(last_seen_at),
      active_keys,
    }));
    return reply(200, { data, next: toCursor(next) });
  },
});

const updateMember = route("PATCH", "/v1/members/:user_id", {
  needs: "manage",
  id: "updateMember",
  summary: "Change the role of a user",
  description:
    "Changes the role of a user of the caller's account. For owners. It takes effect at the next request, for the user's keys too; in other servers on the same database within 5 s.",
  params: MemberPath,
  body: MemberUpdateRequest,
  bodyExample: { role: "viewer" },
  responses: {
    "200": response("The user", Member, { ...examples.member, role: "viewer" }),
    ...noSuch("user"),
    "409": errorResponse(
      "The user is the last owner who can sign in",
      "No one else who can sign in is an owner of this account. Make someone else an owner first.",
    ),
  },
  async handle(services: KeyChangeServices, { call, params, body }) {
    const userId = params.user_id.toLowerCase();
    return reply(200, toMember(await changeRole(services, accessChangerOf(call), userId, body.role)));
  },
});

export const userRoutes = [getMe, whoAmI, listMembers, updateMember];

/** Adds a user who signs in with links, or only has keys, to the changer's account. Returns the user's id. */
export async function addLocalUser(
  database: Database,
  changer: Author,
  { name, email, role }: Pick<User, "name" | "email" | "role">,
): Promise<string> {
  const id = Bun.randomUUIDv7();
  await database.transaction().execute(async (transaction) => {
    await insertUser(transaction, {
      id,
      account_id: changer.accountId,
      oidc_issuer: localIssuer,
      oidc_subject: id,
      email,
      name,
      created_at: nowMicros(),
      role,
    });
    await recordChange(transaction, changer, "user.create", id, { role });
  });
  return id;
}

/** Changes the role of a user of the caller's account. All workers of this server apply it immediately, other servers within 5 s. */
async function changeRole(
  services: KeyChangeServices,
  changer: AccessChanger,
  userId: string,
  role: Role,
): Promise<MemberRow> {
  const { caller } = changer;
  const { issuer } = services.sessionRules;
  const member = await accessWriter(services, changer)
    .transaction()
    .execute(async (transaction) => {
      // Locks the account first: owners who demote each other must not deadlock.
      await lockAccount(transaction, caller.accountId);
      await lockUsers(transaction, [caller.userId, userId]);
      await lockCaller(transaction, services.sessionRules, caller);
      await checkRoleNow(transaction, caller, "manage");
      return await setRole(transaction, changer, { userId, role, issuer });
    });
  for (const digest of await selectDigestsOf(services.store.database, userId)) {
    services.keyVerifier.forget(digest);
    await services.forgetKeyElsewhere(digest);
  }
  return member;
}

/** Changes a user's role for the command line. Running servers apply it to sessions immediately, to keys within 5 s. */
export async function changeRoleOf(
  database: Database,
  changer: Author,
  change: RoleChange,
): Promise<MemberRow> {
  return await database.transaction().execute(async (transaction) => {
    await lockAccount(transaction, changer.accountId);
    await lockUsers(transaction, [change.userId]);
    return await setRole(transaction, changer, change);
  });
}

/**
 * Ends a user's current access: all processes refuse the sessions immediately and the keys within 5 s. The user is not deleted and
 * can sign in again if the provider allows it.
 */
export async function endUser(
  database: Database,
  changer: Author,
  userId: string,
): Promise<{ sessions: number; keys: number }> {
  return await database.transaction().execute((transaction) => endUserIn(transaction, changer, userId));
}

/** Like `endUser`, within a larger transaction. */
export async function endUserIn(
  transaction: Database,
  changer: Author,
  userId: string,
): Promise<{ sessions: number; keys: number }> {
  const now = nowMicros();
  await markSignInTokensUsed(transaction, userId, now);
  // Keys and sessions that are being created are either ended below or refused afterwards.
  await lockUsers(transaction, [userId]);
  const sessions = await markAllEnded(transaction, userId, now);
  const keys = await markAllRevoked(transaction, userId, now);
  await deleteSharesBy(transaction, userId);
  await recordChange(transaction, changer, "user.end_access", userId, { sessions, keys });
  return { sessions, keys };
}

export const ownerSubject = "owner";

/** The only user of local mode, and the bootstrap key's user in every mode. Created at the first start. */
export async function ensureOwner(database: Database): Promise<User> {
  const known = await selectUserByIdentity(database, localIssuer, ownerSubject);
  if (known !== undefined) return known;
  const owner: User = {
    id: Bun.randomUUIDv7(),
    account_id: Bun.randomUUIDv7(),
    oidc_issuer: localIssuer,
    oidc_subject: ownerSubject,
    email: null,
    name: "Owner",
    created_at: nowMicros(),
    role: "owner",
  };
  await insertUserWithAccount(database, owner, "default");
  return (await selectUserByIdentity(database, localIssuer, ownerSubject)) ?? owner;
}

/** The user with an id or e-mail address. Several users may have the same address. */
export async function getUser(database: Database, idOrEmail: string): Promise<User> {
  const [user, ...others] = await selectUsers(database, idOrEmail);
  if (user === undefined) throw new ServiceError("not_found", `There is no user ${idOrEmail}.`);
  if (others.length === 0) return user;
  throw conflict(`${others.length + 1} users have the e-mail address ${idOrEmail}; use an id instead.`);
}

/** Replicas belong to the operator, who is in this account. */
const operatorsAccount = "default";

export async function isOperator(database: Database, { accountId }: Caller): Promise<boolean> {
  return (await selectAccount(database, "id", accountId))?.name === operatorsAccount;
}

async function setRole(
  transaction: Database,
  changer: Author,
  { userId, role, issuer }: RoleChange,
): Promise<MemberRow> {
  const user = await selectUser(transaction, userId);
  if (user === undefined || user.account_id !== changer.accountId) throw notFound("user");
  const { id, email, name, created_at } = user;
  if (user.role === role) return { id, email, name, role, created_at };
  if (user.role === "owner" && !(await hasOtherOwner(transaction, changer.accountId, userId, issuer)))
    throw conflict(
      "No one else who can sign in is an owner of this account. Make someone else an owner first.",
    );
  await updateRole(transaction, userId, role);
  const detail = { from: user.role, to: role };
  await recordChange(transaction, changer, "user.change_role", userId, detail);
  return { id, email, name, role, created_at };
}

function toWhoAmI({ role, proof }: Caller, account: Account): WhoAmIResponse {
  if (proof.kind === "command_line") return { caller: {} };
  return proof.kind === "key"
    ? { caller: { api_key: { id: proof.keyId, account, role, scopes: proof.scopes && [...proof.scopes] } } }
    : { caller: { session: { id: proof.sessionId, account, role } } };
}

function toMember({ created_at, ...member }: MemberRow): Member {
  return { ...member, created_at: toIsoInstant(created_at) };
}
