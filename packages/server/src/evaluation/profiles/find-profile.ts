import { ServiceError } from "../../errors.ts";
import type { EvaluatorProfilesTable } from "../../storage/schema/evaluator-profiles.ts";
import type { Database } from "../../storage/schema/tables.ts";
import type { EvaluationServices } from "../evaluation-services.ts";
import { selectLastRevision, selectProfile } from "./profiles-store.ts";

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

/** The last revision of an account's profile, unless there is none or it is archived. */
export async function findUsableProfile(
  database: Database,
  accountId: string,
  family: string,
  name: string,
): Promise<UsableProfile | undefined> {
  const last = await selectLastRevision(database, accountId, family, name);
  if (last === undefined) return undefined;
  const { public_id: publicId, revision, config } = last;
  return { publicId, name, revision, config: JSON.parse(config) };
}

export function noSuchProfile(): ServiceError {
  return new ServiceError("not_found", "There is no such evaluator profile.");
}
