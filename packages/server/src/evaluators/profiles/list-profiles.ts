import { type Pieces, readInPieces, refuseLargePage } from "../../platform/storage/read-in-pieces.ts";
import type { Requester } from "../../platform/storage/reader.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { EvaluationServices } from "../../results/evaluation-services.ts";
import {
  countProfileRevisions,
  type ProfilePage,
  type ProfileRevision,
  type ProfileRevisionFilter,
  type RevisionKey,
  selectRevisionSizes,
  selectRevisionsByKeys,
} from "./profiles-store.ts";

export interface ProfileFilter extends ProfileRevisionFilter {
  /** Only built-in profiles, or only others. */
  isBuiltIn?: boolean | undefined;
}

/** One page of the revisions that match the filter: the account's, newest first, then the built-in ones. */
export async function listProfiles(
  { store, builtInProfiles }: Pick<EvaluationServices, "store" | "builtInProfiles">,
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
