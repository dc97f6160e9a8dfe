import { ServiceError } from "../../platform/errors.ts";
import type { EvaluatorProfilesTable } from "../../platform/storage/schema/evaluator-profiles.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { EvaluationServices } from "../../results/evaluation-services.ts";
import {
  type ProfileRevision,
  selectProfile,
  selectRevisionsByKeys,
  selectUsableRevision,
} from "./profiles-store.ts";

/** A profile that the account may change: one of its own, archived or not. */
export async function findOwnProfile(
  { store, builtInProfiles }: Pick<EvaluationServices, "store" | "builtInProfiles">,
  accountId: string,
  publicId: string,
): Promise<EvaluatorProfilesTable> {
  const builtIn = builtInProfiles.find(({ public_id }) => public_id === publicId);
  if (builtIn !== undefined) {
    throw new ServiceError("conflict", `${builtIn.name} is built in and cannot be changed.`);
  }
  const profile = await selectProfile(store.database, accountId, publicId);
  if (profile === undefined) throw noSuchProfile();
  return profile;
}

/** A profile as an evaluation uses it. Its config has yet to be parsed by the family's schema. */
export interface UsableProfile {
  publicId: string;
  name: string;
  revision: number;
  config: unknown;
}

/**
 * The last revision of an account's profile, or the one that the name ends with (`name:3`), unless there is none or the profile is
 * archived. A profile whose own name ends so comes first.
 */
export async function findUsableProfile(
  database: Database,
  accountId: string,
  family: string,
  name: string,
): Promise<UsableProfile | undefined> {
  const last = await selectUsableRevision(database, accountId, { family, name });
  const [, namedProfile, revisionDigits] = last === undefined ? (/^(.+):(\d{1,9})$/s.exec(name) ?? []) : [];
  const found =
    namedProfile === undefined
      ? last
      : await selectUsableRevision(database, accountId, {
          family,
          name: namedProfile,
          revision: Number(revisionDigits),
        });
  if (found === undefined) return undefined;
  return toUsable(found);
}

/** All revisions of an account's profiles, archived or not, in no particular order. */
export async function findProfileRevisions(
  database: Database,
  accountId: string,
  wanted: readonly { publicId: string; revision: number }[],
): Promise<UsableProfile[]> {
  const keys = wanted.map(({ publicId, revision }) => ({ public_id: publicId, revision }));
  return (await selectRevisionsByKeys(database, accountId, keys)).map(toUsable);
}

function toUsable({ public_id: publicId, name, revision, config }: ProfileRevision): UsableProfile {
  return { publicId, name, revision, config: JSON.parse(config) };
}

export function noSuchProfile(): ServiceError {
  return new ServiceError("not_found", "There is no such evaluator profile.");
}
