import { LRUCache } from "lru-cache";
import { ServiceError } from "../../errors.ts";
import { microsPerMs } from "../../storage/columns.ts";
import type { KeyRecord } from "./api-keys-store.ts";
import type { KeyDigest } from "./key-digest.ts";

/** After this long an entry is looked up again in the background, while it still answers. */
const refreshAfterMs = 2_000;
/** After this long an entry no longer answers without a look-up: a revocation elsewhere is known in under 5 s. */
const trustForMs = 4_500;
/** How long an entry goes on answering while the store cannot be asked. */
const graceMs = 15 * 60_000;
const maxEntries = 50_000;

/** The user behind a call, and the key that said so. */
export interface Caller {
  keyId: string;
  userId: string;
  accountId: string;
}

/** How a key was checked: `cached`, `looked_up`, `refused`, or `unavailable` when the store could not be asked. */
export type Verification = "cached" | "looked_up" | "refused" | "unavailable";

export interface KeyVerifier {
  /** The caller that `key` stands for, or undefined. Throws `store_unavailable` if that cannot be told. */
  verify(key: string): Promise<Caller | undefined>;
  /** Makes the next check of this key ask the store. To be called after a revocation was committed. */
  forget(digest: string): void;
}

interface Entry {
  record: KeyRecord;
  caller: Caller;
  checkedAtMs: number;
}

export interface KeyVerifierOptions {
  digestOf: KeyDigest;
  find(digest: string): Promise<KeyRecord | undefined>;
  noteUse(keyId: string, isFirst: boolean): void;
  count(verification: Verification): void;
}

export function createKeyVerifier({ digestOf, find, noteUse, count }: KeyVerifierOptions): KeyVerifier {
  const entries = new LRUCache<string, Entry>({ max: maxEntries });
  const lookups = new Map<string, Promise<Entry | undefined>>();
  let forgotten = 0;
  let storeIsDown = false;

  /** One look-up at a time for each digest; its outcome replaces the entry. */
  function lookUp(digest: string): Promise<Entry | undefined> {
    const underWay = lookups.get(digest);
    if (underWay !== undefined) return underWay;
    const lookup = load(digest).finally(() => lookups.delete(digest));
    lookups.set(digest, lookup);
    return lookup;
  }

  async function load(digest: string): Promise<Entry | undefined> {
    const forgottenBefore = forgotten;
    const previous = entries.peek(digest);
    try {
      const record = await find(digest);
      storeIsDown = false;
      // A revocation that was committed while the store answered must not be undone by that older answer.
      if (forgotten !== forgottenBefore) return await load(digest);
      const entry =
        record === undefined || record.revoked_at !== null ? undefined : toEntry(record, previous);
      if (entry === undefined) entries.delete(digest);
      else entries.set(digest, entry);
      return entry;
    } catch (error) {
      storeIsDown = true;
      throw error;
    }
  }

  async function entryFor(digest: string): Promise<{ entry: Entry | undefined; how: Verification }> {
    const known = entries.get(digest);
    const ageMs = known === undefined ? Number.POSITIVE_INFINITY : Date.now() - known.checkedAtMs;
    if (ageMs < refreshAfterMs) return { entry: known, how: "cached" };
    if (ageMs < trustForMs || (ageMs < graceMs && storeIsDown)) {
      lookUp(digest).catch(() => {});
      return { entry: known, how: "cached" };
    }
    try {
      return { entry: await lookUp(digest), how: "looked_up" };
    } catch (cause) {
      if (ageMs < graceMs) return { entry: known, how: "cached" };
      count("unavailable");
      throw new ServiceError("store_unavailable", "The key cannot be checked right now.", { cause });
    }
  }

  return {
    async verify(key) {
      const { entry, how } = await entryFor(digestOf(key));
      if (entry === undefined || isExpired(entry.record)) {
        count("refused");
        return undefined;
      }
      count(how);
      noteUse(entry.record.id, entry.record.last_used_at === null);
      if (entry.record.last_used_at === null) entry.record.last_used_at = Date.now() * microsPerMs;
      return entry.caller;
    },
    forget(digest) {
      forgotten += 1;
      entries.delete(digest);
    },
  };
}

function toEntry(record: KeyRecord, previous: Entry | undefined): Entry {
  // The first use may be noted but not yet written.
  record.last_used_at ??= previous?.record.last_used_at ?? null;
  const caller = { keyId: record.id, userId: record.user_id, accountId: record.account_id };
  return { record, caller, checkedAtMs: Date.now() };
}

function isExpired(record: KeyRecord): boolean {
  return record.expires_at !== null && record.expires_at <= Date.now() * microsPerMs;
}
