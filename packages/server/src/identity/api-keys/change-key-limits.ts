import { ServiceError } from "../../errors.ts";
import type { Database } from "../../storage/schema/tables.ts";
import { type AccessChanger, changeAccess } from "../change-access.ts";
import type { IdentityServices } from "../identity-services.ts";
import { lockUsers } from "../users/users-store.ts";
import { type ApiKey, type ChangedLimits, updateLimits } from "./api-keys-store.ts";

/** Changes the limits of one of the caller's keys. They apply at once in this process, within 5 s in others. */
export async function changeKeyLimits(
  services: Pick<IdentityServices, "store" | "sessionRules" | "keyVerifier">,
  changer: AccessChanger,
  keyId: string,
  limits: ChangedLimits,
): Promise<ApiKey> {
  const { userId } = changer.caller;
  const { digest, ...apiKey } = await changeAccess(services, changer, (transaction) =>
    setLimits(transaction, userId, keyId, limits),
  );
  services.keyVerifier.forget(digest);
  return apiKey;
}

/** Changes the limits of a user's key for the command line. They apply in running servers within 5 s. */
export async function changeKeyLimitsOf(
  database: Database,
  userId: string,
  keyId: string,
  limits: ChangedLimits,
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await lockUsers(transaction, [userId]);
    await setLimits(transaction, userId, keyId, limits);
  });
}

async function setLimits(transaction: Database, userId: string, keyId: string, limits: ChangedLimits) {
  const apiKey = await updateLimits(transaction, userId, keyId, limits);
  if (apiKey === undefined) throw new ServiceError("not_found", "There is no such API key.");
  return apiKey;
}
