import { ServiceError } from "../../errors.ts";
import type { EvaluatorProfilesTable } from "../../storage/schema/evaluator-profiles.ts";
import type { EvaluationServices } from "../evaluation-services.ts";
import { noSuchProfile } from "./no-such-profile.ts";
import { selectProfile } from "./profiles-store.ts";

/** A profile that the account may change: one of its own, archived or not. */
export async function findOwnProfile(
  { store, builtInProfiles }: Pick<EvaluationServices, "store" | "builtInProfiles">,
  accountId: string,
  publicId: string,
): Promise<EvaluatorProfilesTable> {
  const builtIn = builtInProfiles.find(({ public_id }) => public_id === publicId);
  if (builtIn !== undefined) {
    throw new ServiceError("conflict", `${builtIn.name} comes with Presage and cannot be changed.`);
  }
  const profile = await selectProfile(store.database, accountId, publicId);
  if (profile === undefined) throw noSuchProfile();
  return profile;
}
