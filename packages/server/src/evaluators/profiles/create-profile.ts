import type { Changer } from "../../platform/actor.ts";
import { ServiceError } from "../../platform/errors.ts";
import { recordChange } from "../../platform/record-change.ts";
import { nowMicros } from "../../platform/storage/micros.ts";
import type { Once } from "../../platform/storage/once.ts";
import type { EvaluationServices } from "../../results/evaluation-services.ts";
import { changeProfileOnce } from "./change-profile-once.ts";
import type { CheckedConfig } from "./check-config.ts";
import { insertProfile, insertProfileRevision, type ProfileRevision } from "./profiles-store.ts";

export interface NewProfile {
  /** Also determines the family. */
  config: CheckedConfig;
  /** Does not begin with `system:`. */
  name: string;
  description: string | undefined;
}

/** Makes a profile with its first revision. A name is never free again: results refer to it. */
export async function createProfile(
  { store }: Pick<EvaluationServices, "store">,
  requester: Changer,
  { config, name, description }: NewProfile,
  once?: Once,
): Promise<ProfileRevision> {
  const createdAt = nowMicros();
  const profile = {
    public_id: Bun.randomUUIDv7(),
    evaluator_family: config.family.name,
    name,
    archived_at: null,
  };
  const revision = {
    public_id: profile.public_id,
    revision: 1,
    config: config.json,
    description: description ?? null,
    created_at: createdAt,
  };
  return await changeProfileOnce(store.writer(requester), requester.accountId, once, async (transaction) => {
    const row = {
      ...profile,
      account_id: requester.accountId,
      last_revision: revision.revision,
      created_at: createdAt,
    };
    if (!(await insertProfile(transaction, row))) throw nameTaken(row.evaluator_family);
    await insertProfileRevision(transaction, revision);
    const detail = { name, family: profile.evaluator_family };
    await recordChange(transaction, requester, {
      action: "evaluator_profile.create",
      objectId: profile.public_id,
      detail,
    });
    return { ...profile, ...revision, is_managed: false };
  });
}

function nameTaken(family: string): ServiceError {
  return new ServiceError(
    "conflict",
    `The family ${family} already has a profile of this name; it may be archived.`,
  );
}
