import { ServiceError } from "../../errors.ts";
import type { Database } from "../../storage/schema/tables.ts";
import { selectUserIds } from "./users-access-store.ts";

/** The user with an id or e-mail address. Several users may have the same address. */
export async function findUserId(database: Database, idOrEmail: string): Promise<string> {
  const [userId, ...others] = await selectUserIds(database, idOrEmail);
  if (userId === undefined) throw new ServiceError("not_found", `There is no user ${idOrEmail}.`);
  if (others.length === 0) return userId;
  throw new ServiceError(
    "conflict",
    `${others.length + 1} users have the e-mail address ${idOrEmail}; use an id instead.`,
  );
}
