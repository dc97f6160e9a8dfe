import { type Pieces, readInPieces } from "../../storage/read-in-pieces.ts";
import type { Database } from "../../storage/schema/tables.ts";
import { type ProfileRevision, type RevisionKey, selectRevisionsByKeys } from "./profiles-store.ts";

/** An account's own revisions of these keys, in their order, and behind them those that come with Presage. */
export function readRevisions(
  reader: Database,
  accountId: string,
  own: readonly (RevisionKey & { bytes: number })[],
  managed: readonly ProfileRevision[] = [],
): Pieces<ProfileRevision> {
  const managedKeys = new Map(managed.map((revision) => [keyOf(revision), revision]));
  const ownKeys = new Map(own.map((key) => [keyOf(key), key]));
  const bytesOf = new Map(own.map((key) => [keyOf(key), key.bytes]));
  return readInPieces([...ownKeys.keys(), ...managedKeys.keys()], bytesOf, async (some) => {
    const wanted = some.flatMap((key) => ownKeys.get(key) ?? []);
    const read = await selectRevisionsByKeys(reader, accountId, wanted);
    const byKey = new Map(read.map((revision) => [keyOf(revision), revision]));
    return some.flatMap((key) => byKey.get(key) ?? managedKeys.get(key) ?? []);
  });
}

function keyOf({ public_id, revision }: RevisionKey): string {
  return `${public_id}/${revision}`;
}
