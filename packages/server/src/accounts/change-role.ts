import type { Role } from "@presage/contract";
import { checkAccess } from "../http/access.ts";
import type { Changer } from "../platform/actor.ts";
import { ServiceError } from "../platform/errors.ts";
import { recordChange } from "../platform/record-change.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { type AccessChanger, accessWriter, auditOf, lockCaller } from "./change-access.ts";
import type { IdentityServices } from "./identity-services.ts";
import { hasOtherOwner, type Member, selectDigestsOf, updateRole } from "./members-store.ts";
import { lockAccount, lockUsers, selectUser } from "./users-store.ts";

/** Changes the role of a user of the caller's account. It holds at once in all workers of this server, within 5 s in others. */
export async function changeRole(
  services: Pick<IdentityServices, "store" | "sessionRules" | "keyVerifier" | "forgetKeyElsewhere">,
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
      return await setRole(transaction, auditOf(changer), { userId, role, issuer });
    });
  for (const digest of await selectDigestsOf(services.store.database, userId)) {
    services.keyVerifier.forget(digest);
    await services.forgetKeyElsewhere(digest);
  }
  return member;
}

/** Changes the role of a user for the command line. It holds in running servers at once for sessions, within 5 s for keys. */
export async function changeRoleOf(
  database: Database,
  changer: Pick<Changer, "accountId" | "actor">,
  change: RoleChange,
): Promise<Member> {
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
  changer: Pick<Changer, "accountId" | "actor">,
  { userId, role, issuer }: RoleChange,
): Promise<Member> {
  const user = await selectUser(transaction, userId);
  if (user === undefined || user.account_id !== changer.accountId)
    throw new ServiceError("not_found", "There is no such user.");
  const { id, email, name, created_at } = user;
  if (user.role === role) return { id, email, name, role, created_at };
  if (user.role === "owner" && !(await hasOtherOwner(transaction, changer.accountId, userId, issuer)))
    throw new ServiceError(
      "conflict",
      "No one else who can sign in is an owner of this account. Make someone else an owner first.",
    );
  await updateRole(transaction, userId, role);
  const detail = { from: user.role, to: role };
  await recordChange(transaction, changer, { action: "user.change_role", objectId: userId, detail });
  return { id, email, name, role, created_at };
}
