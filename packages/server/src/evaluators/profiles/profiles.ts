import type { z } from "zod";
import { type Changer, recordChange } from "../../platform/audit.ts";
import { conflict, notFound, ServiceError } from "../../platform/errors.ts";
import { nowMicros } from "../../platform/storage/columns.ts";
import type { Pieces } from "../../platform/storage/lists.ts";
import { doOnce, type Once } from "../../platform/storage/once.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { inTransaction, type Store } from "../../platform/storage/store.ts";
import type { Family } from "../family.ts";
import { EvaluationError } from "../outcome.ts";
import type { ConfigCheckTask } from "../rules/run-rule.ts";
import { getOwnProfile, readRevisions } from "./find-profile.ts";
import {
  insertProfile,
  insertProfileRevision,
  markArchived,
  type ProfileRevision,
  selectDescription,
  selectProfile,
  selectRevisionSizes,
  selectRevisionsByKeys,
  takeNextProfileRevision,
} from "./profiles-store.ts";

/**
 * All revisions of a profile, which is archived for good when the first of them is read: if they are too large for the response, the
 * caller refuses before that, and nothing has changed. Repeating it changes nothing.
 */
export async function archiveProfile(
  services: { store: Store; builtInProfiles: readonly ProfileRevision[] },
  requester: Changer,
  publicId: string,
): Promise<Pieces<ProfileRevision>> {
  const { accountId } = requester;
  const reader = services.store.briefReader(requester);
  await getOwnProfile(services, accountId, publicId);
  const own = await selectRevisionSizes(reader, accountId, { publicId, isArchivedToo: true });
  const { read, ...pieces } = readRevisions(reader, accountId, own);
  return {
    ...pieces,
    async *read() {
      await inTransaction(services.store, requester, async (transaction) => {
        if (await markArchived(transaction, accountId, publicId, nowMicros()))
          await recordChange(transaction, requester, "evaluator_profile.archive", publicId);
      });
      yield* read();
    },
  };
}

/** Makes a revision of a profile, or finds the one that the same request made earlier, as it was then. */
async function changeProfileOnce(
  database: Database,
  accountId: string,
  once: Once | undefined,
  change: (transaction: Database) => Promise<ProfileRevision>,
): Promise<ProfileRevision> {
  return await doOnce(database, once, {
    work: change,
    toReceipt: ({ public_id, revision }) => ({ publicId: public_id, revision }),
    async recall({ publicId, revision }) {
      const key = { public_id: publicId, revision };
      const [made] = await selectRevisionsByKeys(database, accountId, [key]);
      if (made === undefined) throw notFound("evaluator profile");
      return { ...made, archived_at: null };
    },
  });
}

const mark = Symbol("checked");

/** A config that its family accepts. Only `checkConfig` makes one, so nothing else can be stored. */
export interface CheckedConfig {
  readonly family: Family;
  /** What the caller sent, as JSON: without the family's defaults. */
  readonly json: string;
  readonly [mark]: true;
}

export interface InvalidConfig {
  issues: readonly z.core.$ZodIssue[];
}

/** Runs the expensive part of a check outside the main thread. Returns what is wrong, if anything. */
export type CheckInThread = (task: ConfigCheckTask) => Promise<string | undefined>;

/** Checks a config against its family's schema; `wording` is zod's error map for what is invalid. */
export async function checkConfig(
  family: Family,
  config: object,
  wording: z.core.$ZodErrorMap,
  checkInThread: CheckInThread,
): Promise<CheckedConfig | InvalidConfig> {
  const json = JSON.stringify(config);
  // Checks what evaluations will read, where long integers are plain numbers.
  const parsed = family.config.safeParse(JSON.parse(json), { error: wording });
  if (!parsed.success) return { issues: parsed.error.issues };
  const expensiveCheck = family.kind === "rule" ? family.expensiveCheck : undefined;
  if (expensiveCheck?.isNeeded(parsed.data)) {
    const message = await settle(checkInThread({ familyName: family.name, config: parsed.data }));
    if (message !== undefined) {
      return { issues: [{ code: "custom", path: [...expensiveCheck.path], message, input: undefined }] };
    }
  }
  return { family, json, [mark]: true };
}

/** A config that takes too long to check is invalid; a lack of free threads is not its fault. */
async function settle(checking: Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await checking;
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    if (error.code === "timeout") return "Checking the config takes too long; simplify it";
    if (error.code === "overloaded") throw new ServiceError("overloaded", error.message, { retryAfterS: 1 });
    throw error;
  }
}

export interface NewProfile {
  /** Also determines the family. */
  config: CheckedConfig;
  /** Does not begin with `system:`. */
  name: string;
  description: string | undefined;
}

/** Makes a profile with its first revision. A name is never free again: results refer to it. */
export async function createProfile(
  { store }: { store: Store },
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
    await recordChange(transaction, requester, "evaluator_profile.create", profile.public_id, detail);
    return { ...profile, ...revision, is_managed: false };
  });
}

function nameTaken(family: string): ServiceError {
  return conflict(`The family ${family} already has a profile of this name; it may be archived.`);
}

export interface NewRevision {
  publicId: string;
  /** The complete new config, checked by the profile's own family. */
  config: CheckedConfig;
  /** Absent: unchanged. */
  description: string | undefined;
}

/** Adds a revision to a profile. Earlier revisions do not change. */
export async function reviseProfile(
  { store }: { store: Store },
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
    await recordChange(transaction, requester, "evaluator_profile.revise", publicId, {
      name: named.name,
      revision: last_revision,
    });
    return { ...profile, ...revision, archived_at: null, is_managed: false };
  });
}

async function whyNot(database: Database, accountId: string, publicId: string): Promise<ServiceError> {
  const profile = await selectProfile(database, accountId, publicId);
  if (profile === undefined) return notFound("evaluator profile");
  return conflict("The profile is archived and cannot be revised.");
}
