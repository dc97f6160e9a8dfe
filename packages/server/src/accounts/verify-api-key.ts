import { randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { isSameSecret } from "../http/authenticate.ts";
import type { Caller } from "../http/caller.ts";
import { ServiceError } from "../platform/errors.ts";
import { orAborted, withDeadline } from "../platform/limits/deadline.ts";
import { type Batching, writeInBatches } from "../platform/storage/batches.ts";
import { type Micros, microsPerMs, nowMicros } from "../platform/storage/columns.ts";
import { lruLimit } from "../platform/words.ts";
import { type KeyRecord, readScopes } from "./api-keys-store.ts";
import type { User } from "./users-store.ts";

/** Collects the times of keys' last uses and writes them in batches. What cannot be written is kept for the next batch. */
export function collectLastUses(batching: Pick<Batching<Micros>, "intervalMs" | "write" | "onFailure">) {
  const { pending, writeNow, stop } = writeInBatches<Micros>(batching);
  return {
    /** Records that a key was used now. `isFirst` writes it immediately, so that a new key's first use is visible. */
    record(keyId: string, isFirst: boolean): void {
      pending().set(keyId, nowMicros());
      if (isFirst) setImmediate(writeNow);
    },
    /** Writes what is pending and stops. */
    stop,
  };
}

const scheme = "psg_";
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 32 base-62 digits have 190.5 random bits. */
const secretLength = 32;
const checksumLength = 6;
/** The largest multiple of 62 in a byte; higher bytes are discarded so that all digits are equally likely. */
const fairByteLimit = 248;

export function generateKey(): string {
  return generateSecret(scheme);
}

/** The scheme, random digits and a CRC-32 of both, by which secret scanners recognise a key. */
export function generateSecret(ofScheme: string): string {
  const body = ofScheme + randomDigits(secretLength);
  return body + checksum(body);
}

/** Whether a text could be a secret of a scheme: random guesses almost never could. */
export function isSecret(text: string, ofScheme: string): boolean {
  const body = text.slice(0, -checksumLength);
  const isLongEnough = body.length === ofScheme.length + secretLength;
  return isLongEnough && text.startsWith(ofScheme) && text === body + checksum(body);
}

export function visibleParts(key: string): { prefix: string; lastFour: string } {
  return { prefix: key.slice(0, 8), lastFour: key.slice(-4) };
}

function randomDigits(count: number): string {
  let digits = "";
  while (digits.length < count) {
    for (const byte of randomBytes(count)) {
      if (byte < fairByteLimit && digits.length < count) digits += alphabet[byte % alphabet.length];
    }
  }
  return digits;
}

function checksum(body: string): string {
  let rest = Bun.hash.crc32(body);
  let digits = "";
  for (let place = 0; place < checksumLength; place++) {
    digits = alphabet[rest % alphabet.length] + digits;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}

/** Makes the only form in which a key is stored and looked up. */
export type KeyDigest = (key: string) => string;

/** HMAC-SHA-256 with a secret that all processes on the database share. */
export function createKeyDigest(secret: string): KeyDigest {
  return (key) => new Bun.CryptoHasher("sha256", secret).update(key).digest("base64");
}

/** Older entries are looked up again in the background and still used meanwhile. */
const refreshAfterMs = 2_000;
/** Older entries are looked up before they are used, so that revocations by other processes take effect within 5 s. */
const trustForMs = 4_500;
/** How long an entry is used while the database is unavailable. */
const graceMs = 15 * 60_000;
/** How long a look-up of a known key may take before the database counts as unavailable. */
const patienceMs = 500;
/** How long the database counts as unavailable after a failure. Then a known key is looked up again first. */
const outageMs = 4_500;
const maxEntries = 50_000;

/** How a key was checked; `unavailable`: the database could not be asked. */
type Verification = "cached" | "looked_up" | "refused" | "unavailable";

export type KeyVerifier = ReturnType<typeof createKeyVerifier>;

interface Entry {
  record: KeyRecord;
  caller: Caller;
  /** When the look-up started, by the monotonic clock: its result may be that old. */
  lookedUpAtMs: number;
}

export interface KeyVerifierOptions {
  digestOf: KeyDigest;
  find(digest: string): Promise<KeyRecord | undefined>;
  recordUse(keyId: string, isFirst: boolean): void;
  count(verification: Verification): void;
}

export function createKeyVerifier({ digestOf, find, recordUse, count }: KeyVerifierOptions) {
  const entries = new LRUCache<string, Entry>(lruLimit(maxEntries));
  const lookups = new Map<string, Promise<Entry | undefined>>();
  /** Digests forgotten while they were being looked up. */
  const forgotten = new Set<string>();
  let databaseFailedAtMs = Number.NEGATIVE_INFINITY;

  /** One look-up at a time for each digest; its result replaces the entry. */
  function lookUp(digest: string): Promise<Entry | undefined> {
    const current = lookups.get(digest);
    if (current !== undefined) return current;
    const lookup = load(digest).finally(() => {
      lookups.delete(digest);
      forgotten.delete(digest);
    });
    lookups.set(digest, lookup);
    return lookup;
  }

  async function load(digest: string): Promise<Entry | undefined> {
    const lookedUpAtMs = performance.now();
    const previous = entries.peek(digest);
    try {
      const record = await find(digest);
      databaseFailedAtMs = Number.NEGATIVE_INFINITY;
      // A result from before a revocation must not undo the revocation.
      if (forgotten.delete(digest)) return await load(digest);
      const entry =
        record === undefined || record.revoked_at !== null
          ? undefined
          : toEntry(record, previous, lookedUpAtMs);
      if (entry === undefined) entries.delete(digest);
      else entries.set(digest, entry);
      return entry;
    } catch (error) {
      databaseFailedAtMs = performance.now();
      throw error;
    }
  }

  /** A database that does not respond fails only at the statement timeout, which is too long for a caller to wait. */
  async function inTime(lookup: Promise<Entry | undefined>): Promise<Entry | undefined> {
    const timeoutError = () => {
      databaseFailedAtMs = performance.now();
      return new Error(`The database did not respond within ${patienceMs} ms`);
    };
    return await withDeadline({ timeoutMs: patienceMs, timeoutError }, (signal) => orAborted(lookup, signal));
  }

  async function entryFor(
    digest: string,
    known: Entry | undefined,
  ): Promise<{ entry: Entry | undefined; how: Verification }> {
    const nowMs = performance.now();
    const ageMs = known === undefined ? Number.POSITIVE_INFINITY : nowMs - known.lookedUpAtMs;
    const isInGrace = ageMs < graceMs;
    if (ageMs < trustForMs || (isInGrace && nowMs - databaseFailedAtMs < outageMs)) {
      lookUp(digest).catch(() => {});
      return { entry: known, how: "cached" };
    }
    try {
      const lookup = lookUp(digest);
      return { entry: await (isInGrace ? inTime(lookup) : lookup), how: "looked_up" };
    } catch (cause) {
      if (isInGrace) return { entry: known, how: "cached" };
      count("unavailable");
      throw new ServiceError(
        "store_unavailable",
        "The API key could not be checked. Try again in a few seconds.",
        { cause },
      );
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
    /** The caller with this key; undefined if the key is invalid. Throws `store_unavailable` if it cannot be checked. */
    verify(key: string): Caller | undefined | Promise<Caller | undefined> {
      const digest = digestOf(key);
      const known = entries.get(digest);
      // Nearly every request takes this path without waiting.
      if (known !== undefined && performance.now() - known.lookedUpAtMs < refreshAfterMs) {
        return accept(known, "cached");
      }
      return entryFor(digest, known).then(({ entry, how }) => accept(entry, how));
    },
    /** Makes the next check of this key look it up. Call it after a revocation is committed. */
    forget(digest: string): void {
      if (lookups.has(digest)) forgotten.add(digest);
      entries.delete(digest);
    },
  };
}

function toEntry(record: KeyRecord, previous: Entry | undefined, lookedUpAtMs: number): Entry {
  // The first use may be recorded but not written yet.
  record.last_used_at ??= previous?.record.last_used_at ?? null;
  const proof = {
    kind: "key",
    keyId: record.id,
    keyName: record.name,
    expiresAt: record.expires_at,
    limits: { ratePerMinute: record.rate_limit_rpm, maxInFlight: record.max_in_flight },
    capture: record.capture,
    scopes: record.scopes === null ? null : readScopes(record.scopes),
  } as const;
  const { user_id: userId, account_id: accountId, role } = record;
  return { record, caller: { userId, accountId, role, proof }, lookedUpAtMs };
}

function isExpired(record: KeyRecord): boolean {
  return record.expires_at !== null && record.expires_at <= Date.now() * microsPerMs;
}

const commandLineScheme = "psc_";

/** A key that lasts for one run of a server; the same user's commands call the server with it. It is never stored in a database. */
export function generateCommandLineKey(): string {
  return commandLineScheme + randomBytes(32).toString("base64url");
}

/** Lets commands that have the key predict, evaluate and read as the owner. */
export function createCommandLineAccess(key: string | undefined, findOwner: () => Promise<User>) {
  return {
    isKey: (given: string) =>
      key !== undefined && given.startsWith(commandLineScheme) && isSameSecret(given, key),
    async findCaller(): Promise<Caller> {
      const { id: userId, account_id: accountId } = await findOwner();
      const proof = { kind: "command_line", scopes: ["evaluate", "predict", "read"] } as const;
      return { userId, accountId, role: "owner", proof };
    },
  };
}
