import type { z } from "zod";
import { type Changer, recordChange } from "../../platform/audit.ts";
import { conflict, notFound, ServiceError } from "../../platform/errors.ts";
import { nowMicros, toMicros } from "../../platform/storage/columns.ts";
import { builtInOfPage, type Pieces, readListed, refuseLargePage } from "../../platform/storage/lists.ts";
import { doOnce, type Once } from "../../platform/storage/once.ts";
import type { Database, EvaluatorProfilesTable } from "../../platform/storage/schema/tables.ts";
import { inTransaction, type Requester, type Store } from "../../platform/storage/store.ts";
import type { BuiltInProfile, Family } from "../family.ts";
import { EvaluationError } from "../outcome.ts";
import type { ConfigCheckTask } from "../rules/run-rule.ts";
import {
  countProfileRevisions,
  insertProfile,
  insertProfileRevision,
  markArchived,
  type ProfilePage,
  type ProfileRevision,
  type ProfileRevisionFilter,
  type RevisionKey,
  selectDescription,
  selectProfile,
  selectRevisionSizes,
  selectRevisionsByKeys,
  selectUsableRevision,
  takeNextProfileRevision,
} from "./profiles-store.ts";

/** Namespace of built-in profiles' ids; any fixed UUID would do. */
const namespace = "0b6f2c0e-7c5e-4f0e-9a35-1f5b8f1f6a52";

/** Only names of built-in profiles and taxonomies begin with this prefix. */
export const builtInPrefix = "system:";

/** The profile's id, the same on every server, so that results can be compared across servers. */
export function builtInProfileId(family: string, name: string): string {
  return Bun.randomUUIDv5(`${family}/${name}`, namespace);
}

export function findBuiltInProfile(family: Family, name: string): BuiltInProfile | undefined {
  return family.builtInProfiles.find((profile) => profile.name === name);
}

/** The built-in profiles in the form of stored ones. Each has a single revision. */
export function builtInProfileRevisions(families: readonly Family[]): ProfileRevision[] {
  return families.flatMap((family) => {
    const [newest, ...older] = family.versions;
    // As old as the family: later versions do not change its profiles.
    const createdAt = toMicros(new Date(older.at(-1) ?? newest));
    return family.builtInProfiles.map(({ name, description, config }) => ({
      public_id: builtInProfileId(family.name, name),
      evaluator_family: family.name,
      name,
      revision: 1,
      config: JSON.stringify(config),
      description,
      is_managed: true,
      created_at: createdAt,
      archived_at: null,
    }));
  });
}

/** A profile that the account may change: one of its own, archived or not. */
export async function getOwnProfile(
  { store, builtInProfiles }: { store: Store; builtInProfiles: readonly ProfileRevision[] },
  accountId: string,
  publicId: string,
): Promise<EvaluatorProfilesTable> {
  const builtIn = builtInProfiles.find(({ public_id }) => public_id === publicId);
  if (builtIn !== undefined) {
    throw conflict(`${builtIn.name} is built in and cannot be changed.`);
  }
  const profile = await selectProfile(store.database, accountId, publicId);
  if (profile === undefined) throw notFound("evaluator profile");
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

export interface ProfileFilter extends ProfileRevisionFilter {
  /** Only built-in profiles, or only others. */
  isBuiltIn?: boolean | undefined;
}

/** One page of the revisions that match the filter: the account's, newest first, then the built-in ones. */
export async function listProfiles(
  { store, builtInProfiles }: { store: Store; builtInProfiles: readonly ProfileRevision[] },
  requester: Requester,
  { isBuiltIn, ...filter }: ProfileFilter,
  { limit, offset }: ProfilePage,
): Promise<Pieces<ProfileRevision>> {
  const { accountId } = requester;
  const reader = store.briefReader(requester);
  const builtIn = isBuiltIn === false ? [] : builtInProfiles.filter((revision) => matches(revision, filter));
  if (isBuiltIn) return readRevisions(reader, accountId, [], builtIn.slice(offset, offset + limit));
  const own = await selectRevisionSizes(reader, accountId, filter, { limit, offset });
  refuseLargePage(own, "revisions");
  const rest = await builtInOfPage(builtIn, own.length, { limit, offset }, () =>
    countProfileRevisions(reader, accountId, filter),
  );
  return readRevisions(reader, accountId, own, rest);
}

/** Each built-in profile has one revision, which is the last, and none is archived. */
function matches(
  { public_id, evaluator_family, name, revision }: ProfileRevision,
  filter: ProfileRevisionFilter,
): boolean {
  return (
    (filter.publicId ?? public_id) === public_id &&
    (filter.family ?? evaluator_family) === evaluator_family &&
    (filter.name ?? name) === name &&
    (filter.revision ?? revision) === revision
  );
}

/** An account's own revisions of these keys, in their order, followed by built-in ones. */
function readRevisions(
  reader: Database,
  accountId: string,
  own: readonly (RevisionKey & { bytes: number })[],
  builtIn: readonly ProfileRevision[] = [],
): Pieces<ProfileRevision> {
  return readListed(own, keyOf, (some) => selectRevisionsByKeys(reader, accountId, some), builtIn);
}

function keyOf({ public_id, revision }: RevisionKey): string {
  return `${public_id}/${revision}`;
}

/**
 * All revisions of a profile, which is archived for good when the first of them is read: if they are too large for the response, the
 * caller refuses before that, and nothing has changed. Repeating the call changes nothing.
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

/** Makes a revision of a profile, or finds the one that the same request made earlier, in its state at that time. */
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

interface InvalidConfig {
  issues: readonly z.core.$ZodIssue[];
}

/** Runs the expensive part of a check outside the main thread. Returns what is wrong, if anything. */
type CheckInThread = (task: ConfigCheckTask) => Promise<string | undefined>;

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

/** A config that takes too long to check is invalid; a lack of free threads is the server's fault, not the config's. */
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

/** Makes a profile with its first revision. A name is never free again, because results refer to it. */
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
    if (!(await insertProfile(transaction, row)))
      throw conflict(
        `The family ${row.evaluator_family} already has a profile of this name; it may be archived.`,
      );
    await insertProfileRevision(transaction, revision);
    const detail = { name, family: profile.evaluator_family };
    await recordChange(transaction, requester, "evaluator_profile.create", profile.public_id, detail);
    return { ...profile, ...revision, is_managed: false };
  });
}

export interface NewRevision {
  publicId: string;
  /** The complete new config, checked by the profile's own family. */
  config: CheckedConfig;
  /** Unchanged if absent. */
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
