import { ServiceError } from "../../errors.ts";
import type { Database } from "../../storage/schema/tables.ts";
import { type AccessChanger, changeAccess } from "../change-access.ts";
import type { IdentityServices } from "../identity-services.ts";
import { lockUsers } from "../users/users-store.ts";
import { type ApiKey, type ChangedSettings, updateSettings } from "./api-keys-store.ts";

/** Changes the settings of one of the caller's keys. They apply at once in all workers of this server, within 5 s in others. */
export async function changeKeySettings(
  services: Pick<IdentityServices, "store" | "sessionRules" | "keyVerifier" | "forgetKeyElsewhere">,
  changer: AccessChanger,
  keyId: string,
  settings: ChangedSettings,
): Promise<ApiKey> {
  const { userId } = changer.caller;
  const { digest, ...apiKey } = await changeAccess(services, changer, (transaction) =>
    setSettings(transaction, userId, keyId, settings),
  );
  services.keyVerifier.forget(digest);
  await services.forgetKeyElsewhere(digest);
  return apiKey;
}

/** Changes the settings of a user's key for the command line. They apply in running servers within 5 s. */
export async function changeKeySettingsOf(
  database: Database,
  userId: string,
  keyId: string,
  settings: ChangedSettings,
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await lockUsers(transaction, [userId]);
    await setSettings(transaction, userId, keyId, settings);
  });
}

async function setSettings(transaction: Database, userId: string, keyId: string, settings: ChangedSettings) {
  const apiKey = await updateSettings(transaction, userId, keyId, settings);
  if (apiKey === undefined) throw new ServiceError("not_found", "There is no such API key.");
  return apiKey;
}
