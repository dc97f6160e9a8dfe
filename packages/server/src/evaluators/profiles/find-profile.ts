import { conflict, notFound } from "../../platform/errors.ts";
import { toMicros } from "../../platform/storage/columns.ts";
import { type Pieces, readInPieces, refuseLargePage } from "../../platform/storage/lists.ts";
import type { Database, EvaluatorProfilesTable } from "../../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import type { BuiltInProfile, Family } from "../family.ts";
import {
  countProfileRevisions,
  type ProfilePage,
  type ProfileRevision,
  type ProfileRevisionFilter,
  type RevisionKey,
  selectProfile,
  selectRevisionSizes,
  selectRevisionsByKeys,
  selectUsableRevision,
} from "./profiles-store.ts";

/** Namespace of built-in profiles' ids; any fixed UUID would do. */
const namespace = "0b6f2c0e-7c5e-4f0e-9a35-1f5b8f1f6a52";

/** Only names of what is built in begin with it. */
export const builtInPrefix = "system:";

/** The same on every server, so that results can be compared across them. */
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
  refuseLargePage(
    own.map(({ bytes }) => bytes),
    "revisions",
    "Ask for fewer revisions with limit.",
  );
  if (own.length === limit || builtIn.length === 0) return readRevisions(reader, accountId, own);
  const isPastOwn = own.length === 0 && offset > 0;
  const ownCount = isPastOwn ? await countProfileRevisions(reader, accountId, filter) : offset + own.length;
  const start = Math.max(0, offset - ownCount);
  return readRevisions(reader, accountId, own, builtIn.slice(start, start + limit - own.length));
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
export function readRevisions(
  reader: Database,
  accountId: string,
  own: readonly (RevisionKey & { bytes: number })[],
  builtIn: readonly ProfileRevision[] = [],
): Pieces<ProfileRevision> {
  const builtInByKey = new Map(builtIn.map((revision) => [keyOf(revision), revision]));
  const ownByKey = new Map(own.map((key) => [keyOf(key), key]));
  const bytesOf = new Map(own.map((key) => [keyOf(key), key.bytes]));
  return readInPieces([...ownByKey.keys(), ...builtInByKey.keys()], bytesOf, async (some) => {
    const wanted = some.flatMap((key) => ownByKey.get(key) ?? []);
    const read = await selectRevisionsByKeys(reader, accountId, wanted);
    const byKey = new Map(read.map((revision) => [keyOf(revision), revision]));
    return some.flatMap((key) => byKey.get(key) ?? builtInByKey.get(key) ?? []);
  });
}

function keyOf({ public_id, revision }: RevisionKey): string {
  return `${public_id}/${revision}`;
}
