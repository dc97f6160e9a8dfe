import type { Database } from "../platform/storage/schema/tables.ts";

/** Of one statement; databases limit its parameters. */
const maxIds = 1_000;

function inChunks(ids: readonly string[]): string[][] {
  const chunks = Math.ceil(ids.length / maxIds);
  return Array.from({ length: chunks }, (_, chunk) => ids.slice(chunk * maxIds, (chunk + 1) * maxIds));
}

/** The names of an account's keys with these ids. */
export async function selectNamedKeys(reader: Database, accountId: string, keyIds: readonly string[]) {
  const found = inChunks(keyIds).map((ids) =>
    reader
      .selectFrom("api_keys")
      .innerJoin("users", "users.id", "api_keys.user_id")
      .select(["api_keys.id", "api_keys.name", "prefix", "last_four", "revoked_at"])
      .where("api_keys.id", "in", ids)
      .where("users.account_id", "=", accountId)
      .execute(),
  );
  return (await Promise.all(found)).flat();
}

/** Whose requests are counted under an id: a key's, or those of a user's sessions. */
export interface Holder {
  userId: string;
  userName: string | null;
  /** Undefined: sessions. */
  keyName: string | undefined;
}

/** The holders with these ids, as far as the account still has them. */
export async function selectHolders(
  reader: Database,
  accountId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Holder>> {
  const found = inChunks(ids.filter((id) => id !== "")).map(async (some) => {
    const keys = await reader
      .selectFrom("api_keys")
      .innerJoin("users", "users.id", "api_keys.user_id")
      .select(["api_keys.id", "api_keys.name as keyName", "users.id as userId", "users.name", "users.email"])
      .where("api_keys.id", "in", some)
      .where("users.account_id", "=", accountId)
      .execute();
    const users = await reader
      .selectFrom("users")
      .select(["id", "id as userId", "name", "email"])
      .where("id", "in", some)
      .where("account_id", "=", accountId)
      .execute();
    return [...keys, ...users.map((user) => ({ ...user, keyName: undefined }))];
  });
  const holders = (await Promise.all(found)).flat();
  return new Map(
    holders.map(({ id, userId, keyName, name, email }) => [id, { userId, keyName, userName: name ?? email }]),
  );
}
