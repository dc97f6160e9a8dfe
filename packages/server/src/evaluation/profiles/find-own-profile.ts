import { ServiceError } from "../../errors.ts";
import type { Database, EvaluatorProfilesTable } from "../../storage/schema/tables.ts";
import { noSuchProfile } from "./no-such-profile.ts";
import { type ProfileRevision, selectProfile } from "./profiles-store.ts";

/** A profile that the account may change: one of its own, archived or not. */
export async function findOwnProfile(
  database: Database,
  systemRevisions: readonly ProfileRevision[],
  accountId: string,
  publicId: string,
): Promise<EvaluatorProfilesTable> {
  const managed = systemRevisions.find(({ public_id }) => public_id === publicId);
  if (managed !== undefined) {
    throw new ServiceError("conflict", `${managed.name} comes with Presage and cannot be changed.`);
  }
  const profile = await selectProfile(database, accountId, publicId);
  if (profile === undefined) throw noSuchProfile();
  return profile;
}
