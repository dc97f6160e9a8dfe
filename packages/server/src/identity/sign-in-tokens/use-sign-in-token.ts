import { ServiceError } from "../../errors.ts";
import { nowMicros } from "../../storage/micros.ts";
import type { Database } from "../../storage/schema/tables.ts";
import type { KeyDigest } from "../api-keys/key-digest.ts";
import { markUsed } from "./sign-in-tokens-store.ts";

/** Uses a token up and says whose it was. Refuses one that is unknown, used or too old. */
export async function useSignInToken(
  database: Database,
  digestOf: KeyDigest,
  token: string,
): Promise<string> {
  const userId = await markUsed(database, digestOf(token), nowMicros());
  if (userId !== undefined) return userId;
  throw new ServiceError("unauthenticated", "This address was used already, or it is older than 12 hours.");
}
