import { ServiceError } from "../platform/errors.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { selectUsers } from "./users-access-store.ts";
import type { User } from "./users-store.ts";

/** The user with an id or e-mail address. Several users may have the same address. */
export async function findUser(database: Database, idOrEmail: string): Promise<User> {
  const [user, ...others] = await selectUsers(database, idOrEmail);
  if (user === undefined) throw new ServiceError("not_found", `There is no user ${idOrEmail}.`);
  if (others.length === 0) return user;
  throw new ServiceError(
    "conflict",
    `${others.length + 1} users have the e-mail address ${idOrEmail}; use an id instead.`,
  );
}
