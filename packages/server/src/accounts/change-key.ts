import { ServiceError } from "../platform/errors.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { selectHolder } from "./api-keys-store.ts";
import { type AccessChanger, accessWriter, lockCaller } from "./change-access.ts";
import type { IdentityServices } from "./identity-services.ts";
import { lockUsers } from "./users-store.ts";

/**
 * Changes one of the caller's keys or, for an owner, of the account's. `change` gets the user whose key it is, and returns its digest.
 * All workers of this server know of it at once, other servers within 5 s.
 */
export async function changeKey<Changed extends { digest: string }>(
  services: Pick<IdentityServices, "store" | "sessionRules" | "keyVerifier" | "forgetKeyElsewhere">,
  changer: AccessChanger,
  keyId: string,
  change: (transaction: Database, userId: string) => Promise<Changed>,
): Promise<Changed> {
  const { userId } = changer.caller;
  const changed = await accessWriter(services, changer)
    .transaction()
    .execute(async (transaction) => {
      const found = await selectHolder(transaction, userId, keyId);
      // Both at once: owners who revoke each other's keys must not wait for each other.
      await lockUsers(transaction, [userId, found ?? userId]);
      await lockCaller(transaction, services.sessionRules, changer.caller);
      // The caller may have been an owner until now.
      const holder = await selectHolder(transaction, userId, keyId);
      if (holder === undefined || holder !== found) throw noSuchKey();
      return await change(transaction, holder);
    });
  services.keyVerifier.forget(changed.digest);
  await services.forgetKeyElsewhere(changed.digest);
  return changed;
}

export function noSuchKey(): ServiceError {
  return new ServiceError("not_found", "There is no such API key.");
}
