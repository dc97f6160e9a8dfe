import type { Role } from "@presage/contract";
import { type AccessChanger, type Caller, checkAccess } from "../http/caller.ts";
import { type Author, recordChange } from "../platform/audit.ts";
import { conflict, notFound, ServiceError } from "../platform/errors.ts";
import { nowMicros } from "../platform/storage/columns.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { markAllRevoked } from "./api-keys-store.ts";
import { accessWriter, type KeyChangeServices, lockCaller } from "./change-access.ts";
import { markAllEnded } from "./sessions-store.ts";
import { markAllUsed } from "./sign-in.ts";
import {
  deleteSharesBy,
  hasOtherOwner,
  insertUser,
  insertUserWithAccount,
  localIssuer,
  lockAccount,
  lockUsers,
  type Member,
  selectAccount,
  selectDigestsOf,
  selectUser,
  selectUserByIdentity,
  selectUsers,
  type User,
  updateRole,
} from "./users-store.ts";

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

/** Changes the role of a user of the caller's account. It holds at once in all workers of this server, within 5 s in others. */
export async function changeRole(
  services: KeyChangeServices,
  changer: AccessChanger,
  userId: string,
  role: Role,
): Promise<Member> {
  const { caller } = changer;
  const { issuer } = services.sessionRules;
  const member = await accessWriter(services, changer)
    .transaction()
    .execute(async (transaction) => {
      // The account first: owners who demote each other must not wait for each other.
      await lockAccount(transaction, caller.accountId);
      await lockUsers(transaction, [caller.userId, userId]);
      await lockCaller(transaction, services.sessionRules, caller);
      const self = await selectUser(transaction, caller.userId);
      // A cache may still say that the caller is an owner, or in this account.
      const roleNow = self?.account_id === caller.accountId ? self.role : "viewer";
      checkAccess({ role: roleNow, proof: caller.proof }, "manage");
      return await setRole(transaction, changer, { userId, role, issuer });
    });
  for (const digest of await selectDigestsOf(services.store.database, userId)) {
    services.keyVerifier.forget(digest);
    await services.forgetKeyElsewhere(digest);
  }
  return member;
}

/** Changes the role of a user for the command line. It holds in running servers at once for sessions, within 5 s for keys. */
export async function changeRoleOf(database: Database, changer: Author, change: RoleChange): Promise<Member> {
  return await database.transaction().execute(async (transaction) => {
    await lockAccount(transaction, changer.accountId);
    await lockUsers(transaction, [change.userId]);
    return await setRole(transaction, changer, change);
  });
}

interface RoleChange {
  userId: string;
  role: Role;
  /** The configured one: its users can sign in. */
  issuer: string;
}

async function setRole(
  transaction: Database,
  changer: Author,
  { userId, role, issuer }: RoleChange,
): Promise<Member> {
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

/**
 * Ends a user's current access: all processes refuse the sessions at once and the keys within 5 s. The user is not deleted and can
 * sign in again if the provider allows it.
 */
export async function endUser(
  database: Database,
  changer: Author,
  userId: string,
): Promise<{ sessions: number; keys: number }> {
  return await database.transaction().execute((transaction) => endUserIn(transaction, changer, userId));
}

/** The same in a transaction that changes more. */
export async function endUserIn(
  transaction: Database,
  changer: Author,
  userId: string,
): Promise<{ sessions: number; keys: number }> {
  const now = nowMicros();
  await markAllUsed(transaction, userId, now);
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

/** Replicas are the operator's, who is in this account. */
const operatorsAccount = "default";

export async function isOperator(database: Database, { accountId }: Caller): Promise<boolean> {
  return (await selectAccount(database, accountId))?.name === operatorsAccount;
}
