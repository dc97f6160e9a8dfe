import { ServiceError } from "../../errors.ts";
import { nowMicros } from "../../storage/micros.ts";
import type { Database } from "../../storage/schema/tables.ts";
import type { Hold } from "../hold-live-caller.ts";
import { markRevoked } from "./api-keys-store.ts";
import type { KeyVerifier } from "./verify-api-key.ts";

/** Revokes a user's key. Once it returns, this process refuses the key; every other one does within 5 s. */
export async function revokeApiKey(
  database: Database,
  verifier: Pick<KeyVerifier, "forget">,
  hold: Hold,
  userId: string,
  keyId: string,
): Promise<void> {
  const digest = await database.transaction().execute(async (transaction) => {
    await hold(transaction);
    return await markRevoked(transaction, userId, keyId, nowMicros());
  });
  if (digest === undefined) throw new ServiceError("not_found", "There is no such API key.");
  verifier.forget(digest);
}
