import { LRUCache } from "lru-cache";
import { ServiceError } from "../../errors.ts";
import { orAborted, withDeadline } from "../../limits/deadline.ts";
import { microsPerMs } from "../../storage/micros.ts";
import type { Caller } from "../caller.ts";
import type { KeyRecord } from "./api-keys-store.ts";
import type { KeyDigest } from "./key-digest.ts";

/** After this long an entry is looked up again in the background, while it still answers. */
const refreshAfterMs = 2_000;
/** After this long an entry no longer answers without a look-up: a revocation elsewhere is known in under 5 s. */
const trustForMs = 4_500;
/** How long an entry goes on answering while the store cannot be asked. */
const graceMs = 15 * 60_000;
/** How long a known entry waits for the store's word before the store counts as one that cannot be asked. */
const patienceMs = 500;
/** How long a failure of the store is taken to last; then it is asked again before a known entry answers. */
const outageMs = 4_500;
const maxEntries = 50_000;

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
  /** When the store was asked, by the clock that nobody sets: what it answered may be as old as that. */
  askedAtMs: number;
}

export interface KeyVerifierOptions {
  digestOf: KeyDigest;
  find(digest: string): Promise<KeyRecord | undefined>;
  recordUse(keyId: string, isFirst: boolean): void;
  count(verification: Verification): void;
}

export function createKeyVerifier({ digestOf, find, recordUse, count }: KeyVerifierOptions): KeyVerifier {
  const entries = new LRUCache<string, Entry>({ max: maxEntries });
  const lookups = new Map<string, Promise<Entry | undefined>>();
  let forgotten = 0;
  let storeFailedAtMs = Number.NEGATIVE_INFINITY;

  /** One look-up at a time for each digest; its outcome replaces the entry. */
  function lookUp(digest: string): Promise<Entry | undefined> {
    const underWay = lookups.get(digest);
    if (underWay !== undefined) return underWay;
    const lookup = load(digest).finally(() => lookups.delete(digest));
    lookups.set(digest, lookup);
    return lookup;
  }

  async function load(digest: string): Promise<Entry | undefined> {
    const askedAtMs = performance.now();
    const forgottenBefore = forgotten;
    const previous = entries.peek(digest);
    try {
      const record = await find(digest);
      storeFailedAtMs = Number.NEGATIVE_INFINITY;
      // A revocation that was committed while the store answered must not be undone by that older answer.
      if (forgotten !== forgottenBefore) return await load(digest);
      const entry =
        record === undefined || record.revoked_at !== null ? undefined : toEntry(record, previous, askedAtMs);
      if (entry === undefined) entries.delete(digest);
      else entries.set(digest, entry);
      return entry;
    } catch (error) {
      storeFailedAtMs = performance.now();
      throw error;
    }
  }

  /** A store that is silent, and not gone, fails only when its statement times out: too late for a caller to wait for. */
  async function withPatience(lookup: Promise<Entry | undefined>): Promise<Entry | undefined> {
    const timeoutError = () => {
      storeFailedAtMs = performance.now();
      return new Error(`The store did not answer within ${patienceMs} ms.`);
    };
    return await withDeadline({ timeoutMs: patienceMs, timeoutError }, (signal) => orAborted(lookup, signal));
  }

  async function entryFor(
    digest: string,
    known: Entry | undefined,
  ): Promise<{ entry: Entry | undefined; how: Verification }> {
    const nowMs = performance.now();
    const ageMs = known === undefined ? Number.POSITIVE_INFINITY : nowMs - known.askedAtMs;
    const isInGrace = ageMs < graceMs;
    if (ageMs < trustForMs || (isInGrace && nowMs - storeFailedAtMs < outageMs)) {
      lookUp(digest).catch(() => {});
      return { entry: known, how: "cached" };
    }
    try {
      const lookup = lookUp(digest);
      return { entry: await (isInGrace ? withPatience(lookup) : lookup), how: "looked_up" };
    } catch (cause) {
      if (isInGrace) return { entry: known, how: "cached" };
      count("unavailable");
      throw new ServiceError("store_unavailable", "The key cannot be checked right now.", { cause });
    }
  }

  function accept(entry: Entry | undefined, how: Verification): Caller | undefined {
    if (entry === undefined || isExpired(entry.record)) {
      count("refused");
      return undefined;
    }
    count(how);
    recordUse(entry.record.id, entry.record.last_used_at === null);
    entry.record.last_used_at ??= Date.now() * microsPerMs;
    return entry.caller;
  }

  return {
    async verify(key) {
      const digest = digestOf(key);
      const known = entries.get(digest);
      // The way of nearly every call: nothing to wait for.
      if (known !== undefined && performance.now() - known.askedAtMs < refreshAfterMs) {
        return accept(known, "cached");
      }
      const { entry, how } = await entryFor(digest, known);
      return accept(entry, how);
    },
    forget(digest) {
      forgotten += 1;
      entries.delete(digest);
    },
  };
}

function toEntry(record: KeyRecord, previous: Entry | undefined, askedAtMs: number): Entry {
  // The first use may be noted but not yet written.
  record.last_used_at ??= previous?.record.last_used_at ?? null;
  const proof = { kind: "key", keyId: record.id } as const;
  return { record, caller: { userId: record.user_id, accountId: record.account_id, proof }, askedAtMs };
}

function isExpired(record: KeyRecord): boolean {
  return record.expires_at !== null && record.expires_at <= Date.now() * microsPerMs;
}
