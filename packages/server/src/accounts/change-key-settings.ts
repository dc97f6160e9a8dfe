import type { Changer } from "../platform/actor.ts";
import { recordChange } from "../platform/record-change.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { type ApiKey, type ChangedSettings, updateSettings } from "./api-keys-store.ts";
import { type AccessChanger, auditOf } from "./change-access.ts";
import { changeKey, noSuchKey } from "./change-key.ts";
import type { IdentityServices } from "./identity-services.ts";
import { lockUsers } from "./users-store.ts";

/** Changes the settings of one of the caller's keys or, for an owner, of the account's. */
export async function changeKeySettings(
  services: Pick<IdentityServices, "store" | "sessionRules" | "keyVerifier" | "forgetKeyElsewhere">,
  changer: AccessChanger,
  keyId: string,
  settings: ChangedSettings,
): Promise<ApiKey> {
  const { digest: _, ...apiKey } = await changeKey(services, changer, keyId, (transaction, userId) =>
    setSettings(transaction, auditOf(changer), { userId, keyId, settings }),
  );
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
  if (apiKey === undefined) throw noSuchKey();
  if (Object.keys(settings).length > 0)
    await recordChange(transaction, changer, {
      action: "api_key.update",
      objectId: keyId,
      detail: { name: apiKey.name, ...settings },
    });
  return apiKey;
}
