import type { Changer } from "../../platform/actor.ts";
import { ServiceError } from "../../platform/errors.ts";
import { recordChange } from "../../platform/record-change.ts";
import { nowMicros } from "../../platform/storage/micros.ts";
import type { Once } from "../../platform/storage/once.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { EvaluationServices } from "../../results/evaluation-services.ts";
import { changeProfileOnce } from "./change-profile-once.ts";
import type { CheckedConfig } from "./check-config.ts";
import { noSuchProfile } from "./find-profile.ts";
import {
  insertProfileRevision,
  type ProfileRevision,
  selectDescription,
  selectProfile,
  takeNextProfileRevision,
} from "./profiles-store.ts";

export interface NewRevision {
  publicId: string;
  /** The complete new config, checked by the profile's own family. */
  config: CheckedConfig;
  /** Absent: unchanged. */
  description: string | undefined;
}

/** Adds a revision to a profile. Earlier revisions do not change. */
export async function reviseProfile(
  { store }: Pick<EvaluationServices, "store">,
  requester: Changer,
  { publicId, config, description }: NewRevision,
  once: Once | undefined,
): Promise<ProfileRevision> {
  const { accountId } = requester;
  return await changeProfileOnce(store.writer(requester), accountId, once, async (transaction) => {
    const taken = await takeNextProfileRevision(transaction, accountId, publicId);
    if (taken === undefined) throw await whyNot(transaction, accountId, publicId);
    const { last_revision, ...named } = taken;
    const profile = { public_id: publicId, ...named };
    const revision = {
      public_id: publicId,
      revision: last_revision,
      config: config.json,
      description: description ?? (await selectDescription(transaction, publicId, last_revision - 1)),
      created_at: nowMicros(),
    };
    await insertProfileRevision(transaction, revision);
    await recordChange(transaction, requester, {
      action: "evaluator_profile.revise",
      objectId: publicId,
      detail: { name: named.name, revision: last_revision },
    });
    return { ...profile, ...revision, archived_at: null, is_managed: false };
  });
}

async function whyNot(database: Database, accountId: string, publicId: string): Promise<ServiceError> {
  const profile = await selectProfile(database, accountId, publicId);
  if (profile === undefined) return noSuchProfile();
  return new ServiceError("conflict", "The profile is archived and cannot be revised.");
}
