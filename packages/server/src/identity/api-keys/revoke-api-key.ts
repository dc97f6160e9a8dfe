import type { Changer } from "../../audit/actor.ts";
import { recordChange } from "../../audit/record-change.ts";
import { ServiceError } from "../../errors.ts";
import { nowMicros } from "../../storage/micros.ts";
import type { Database } from "../../storage/schema/tables.ts";
import { type AccessChanger, auditOf, changeAccess } from "../change-access.ts";
import type { IdentityServices } from "../identity-services.ts";
import { lockUsers } from "../users/users-store.ts";
import { markRevoked } from "./api-keys-store.ts";

/** Revokes one of the caller's keys. All workers of this server refuse it at once, other servers within 5 s. */
export async function revokeApiKey(
  services: Pick<IdentityServices, "store" | "sessionRules" | "keyVerifier" | "forgetKeyElsewhere">,
  changer: AccessChanger,
  keyId: string,
): Promise<void> {
  const { userId } = changer.caller;
  const digest = await changeAccess(services, changer, (transaction) =>
    endKey(transaction, auditOf(changer), userId, keyId),
  );
  services.keyVerifier.forget(digest);
  await services.forgetKeyElsewhere(digest);
}

/** Revokes a user's key for the command line. Running servers refuse it within 5 s. */
export async function revokeKeyOf(
  database: Database,
  changer: Pick<Changer, "accountId" | "actor">,
  userId: string,
  keyId: string,
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await lockUsers(transaction, [userId]);
    await endKey(transaction, changer, userId, keyId);
  });
}

async function endKey(
  transaction: Database,
  changer: Pick<Changer, "accountId" | "actor">,
  userId: string,
  keyId: string,
): Promise<string> {
  const now = nowMicros();
  const key = await markRevoked(transaction, userId, keyId, now);
  if (key === undefined) throw new ServiceError("not_found", "There is no such API key.");
  // Revoking it again changes nothing.
  if (key.revoked_at === now)
    await recordChange(transaction, changer, {
      action: "api_key.revoke",
      objectId: keyId,
      detail: { name: key.name, user_id: userId },
    });
  return key.digest;
}
