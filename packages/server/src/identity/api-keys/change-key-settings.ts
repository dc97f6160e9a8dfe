import type { Changer } from "../../audit/actor.ts";
import { recordChange } from "../../audit/record-change.ts";
import { ServiceError } from "../../errors.ts";
import type { Database } from "../../storage/schema/tables.ts";
import { type AccessChanger, auditOf, changeAccess } from "../change-access.ts";
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
    setSettings(transaction, auditOf(changer), { userId, keyId, settings }),
  );
  services.keyVerifier.forget(digest);
  await services.forgetKeyElsewhere(digest);
  return apiKey;
}

/** Changes the settings of a user's key for the command line. They apply in running servers within 5 s. */
export async function changeKeySettingsOf(
  database: Database,
  changer: Pick<Changer, "accountId" | "actor">,
  change: SettingsChange,
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await lockUsers(transaction, [change.userId]);
    await setSettings(transaction, changer, change);
  });
}

export interface SettingsChange {
  userId: string;
  keyId: string;
  settings: ChangedSettings;
}

async function setSettings(
  transaction: Database,
  changer: Pick<Changer, "accountId" | "actor">,
  { userId, keyId, settings }: SettingsChange,
) {
  const apiKey = await updateSettings(transaction, userId, keyId, settings);
  if (apiKey === undefined) throw new ServiceError("not_found", "There is no such API key.");
  if (Object.keys(settings).length > 0)
    await recordChange(transaction, changer, {
      action: "api_key.update",
      objectId: keyId,
      detail: { name: apiKey.name, ...settings },
    });
  return apiKey;
}
