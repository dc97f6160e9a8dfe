import { ServiceError } from "../../errors.ts";
import type { Database } from "../../storage/schema/tables.ts";
import { selectUserIds } from "./users-access-store.ts";

/** The one user that an id or an e-mail address names. Providers may say the same address of several. */
export async function findUserId(database: Database, idOrEmail: string): Promise<string> {
  const [userId, ...others] = await selectUserIds(database, idOrEmail);
  if (userId === undefined) throw new ServiceError("not_found", `There is no user ${idOrEmail}.`);
  if (others.length === 0) return userId;
  throw new ServiceError(
    "conflict",
    `${others.length + 1} users have the e-mail address ${idOrEmail}; name one by the id.`,
  );
}
