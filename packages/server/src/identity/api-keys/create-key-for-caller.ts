import { ServiceError } from "../../errors.ts";
import { doOnce } from "../../storage/idempotency/do-once.ts";
import type { Once } from "../../storage/idempotency/once.ts";
import type { Database } from "../../storage/schema/tables.ts";
import { type AccessChanger, accessWriter, changeAccess, lockCaller } from "../change-access.ts";
import type { IdentityServices } from "../identity-services.ts";
import { createApiKey, type NewApiKey } from "./create-api-key.ts";
import { createNewKeySeal, type NewlyMadeKey } from "./seal-new-key.ts";

/** Creates a key for the caller. The same request again gets the same key, if it has the same `credential`: key or session token. */
export async function createKeyForCaller(
  services: Pick<IdentityServices, "store" | "sessionRules" | "keyDigest">,
  changer: AccessChanger & { credential: string },
  newKey: NewApiKey,
  once: Once | undefined,
): Promise<NewlyMadeKey> {
  const create = (transaction: Database) => createApiKey(transaction, services.keyDigest, newKey);
  if (once === undefined) return await changeAccess(services, changer, create);
  const seal = await createNewKeySeal(changer.credential, once.id);
  return await doOnce(accessWriter(services, changer), once, {
    async work(transaction) {
      await lockCaller(transaction, services.sessionRules, changer.caller);
      return await create(transaction);
    },
    toReceipt: async (made) => ({ sealed: await seal.close(made) }),
    async recall({ sealed }) {
      // A caller who may no longer create keys does not get an earlier one either.
      const made = await changeAccess(services, changer, () => seal.open(sealed));
      if (made !== undefined) return made;
      throw new ServiceError(
        "conflict",
        "Another of your keys or sessions created an API key with this Idempotency-Key, and only that one can retrieve it. Use a new Idempotency-Key to create another.",
      );
    },
  });
}
