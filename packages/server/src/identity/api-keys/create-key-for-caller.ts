import { ServiceError } from "../../errors.ts";
import { doOnce } from "../../storage/idempotency/do-once.ts";
import type { Once } from "../../storage/idempotency/once.ts";
import type { Database } from "../../storage/schema/tables.ts";
import type { Hold } from "../hold-live-caller.ts";
import { createApiKey, type NewApiKey } from "./create-api-key.ts";
import type { KeyDigest } from "./key-digest.ts";
import { createNewKeySeal, type NewlyMadeKey } from "./seal-new-key.ts";

export interface KeyCaller {
  /** The key or the session's token with which the call is made. */
  credential: string;
  hold: Hold;
}

/** Makes a key for whoever calls, if they still may. The same request again is answered with the same key. */
export async function createKeyForCaller(
  database: Database,
  digestOf: KeyDigest,
  { credential, hold }: KeyCaller,
  newKey: NewApiKey,
  once: Once | undefined,
): Promise<NewlyMadeKey> {
  const work = async (transaction: Database) => {
    await hold(transaction);
    return await createApiKey(transaction, digestOf, newKey);
  };
  if (once === undefined) return await database.transaction().execute(work);
  const seal = await createNewKeySeal(credential, once.id);
  return await doOnce(database, once, {
    work,
    toReceipt: async (made) => ({ sealed: await seal.close(made) }),
    async recall({ sealed }) {
      // Whoever may make no key any more is not shown one either.
      await database.transaction().execute(hold);
      const made = await seal.open(sealed);
      if (made !== undefined) return made;
      throw new ServiceError(
        "conflict",
        "Another of your keys or sessions made an API key under this Idempotency-Key, and only that one is shown it again. Make another under an Idempotency-Key of its own.",
      );
    },
  });
}
