import { timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Redis } from "../platform/connect-redis.ts";
import { bytesOfTexts, type CompletionReading } from "./completion-reading.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A completion as other processes store it, and when that was. */
export interface StoredCompletion {
  bytes: Bytes;
  storedAtMs: number;
}

/** A completion in memory, which need not be parsed again. */
export interface KeptCompletion extends StoredCompletion {
  reading: CompletionReading;
}

/** The meaning of a body that an account has sent. */
export interface KnownBody {
  /** The completion's key. */
  key: string;
  deployment: string;
  /** The model that the deployment served then, if the body names none. */
  servedModel: string | undefined;
}

export interface CompletionCacheOptions {
  maxBytes: number;
  maxAgeS: number;
  /** Changing it makes all that is kept stale. */
  epoch: string;
  /** Shared with other processes, under names and with MACs that no one can make without the secret. */
  shared?: { redis: Redis; secret: string } | undefined;
  /** Milliseconds since 1970. Absent: the system's. */
  nowMs?: () => number;
}

/** Completions by key: in memory, least recently used first out, and in Redis if there is one. */
export interface CompletionCache {
  /** The key of a request: everything that its response depends on, and whose it is. */
  keyOf(request: { accountId: string; deployment: string; model: string; text: string }): string;
  /** What is in memory and no older than this. */
  find(key: string, maxAgeS: number): KeptCompletion | undefined;
  /** What another process has stored. */
  findShared(key: string, maxAgeS: number): Promise<StoredCompletion | undefined>;
  /** Stores a new completion, for other processes as well. */
  keep(key: string, bytes: Bytes, reading: CompletionReading): void;
  /** Stores what another process has stored. */
  keepHere(key: string, found: KeptCompletion): void;
  /** Remembers a body's meaning by its digest. */
  recognise(bodyDigest: string, body: KnownBody): void;
  findBody(bodyDigest: string): KnownBody | undefined;
  /** A completion's age in seconds. */
  ageS(stored: StoredCompletion): number;
  /** The memory of all that is kept in this process. */
  bytes(): number;
}

/** Measured with completions of 500 bytes to 40 KB: the entry, its key, its reading and the bookkeeping of the bytes. */
const bytesPerEntry = 1_070;
/** What is allocated for a byte, on average over lengths. */
const allocatedPerByte = 1.15;
const sizeOf = (bytes: number) => Math.ceil(bytes * allocatedPerByte) + bytesPerEntry;
/** Measured with 100,000 to 400,000 bodies, after three times as many: two digests, an object and a place in the order of use. */
const bytesPerBody = 430;
/** The fraction for bodies, which thus displace no completions: 1/32, that is 19,500 of the usual 256 MiB. */
const partsForBodies = 32;
/** Longer completions would keep others waiting for the connection. */
const maxSharedBytes = 1024 * 1024;
const macBytes = 16;
const storedAtBytes = 8;
const headBytes = macBytes + storedAtBytes;

export function createCompletionCache({
  maxBytes,
  maxAgeS,
  epoch,
  shared,
  nowMs = Date.now,
}: CompletionCacheOptions): CompletionCache {
  const maxBytesOfBodies = Math.ceil(maxBytes / partsForBodies);
  const bodies = new LRUCache<string, KnownBody>({
    maxSize: maxBytesOfBodies,
    sizeCalculation: () => bytesPerBody,
  });
  const kept = new LRUCache<string, KeptCompletion>({
    // A maximum of 0 would be none.
    maxSize: Math.max(1, maxBytes - maxBytesOfBodies),
    sizeCalculation: ({ bytes, reading }) => sizeOf(bytes.length + bytesOfTexts(reading)),
  });
  // The clocks of two processes may differ a little.
  const ageS = ({ storedAtMs }: StoredCompletion) => Math.max(0, (nowMs() - storedAtMs) / 1000);

  const nameOf = (key: string, secret: string) =>
    `presage:completion:${new Bun.CryptoHasher("sha256", secret).update(key).digest("base64url")}`;

  function share(key: string, { bytes, storedAtMs }: StoredCompletion): void {
    if (shared === undefined || !shared.redis.isUp() || bytes.length > maxSharedBytes) return;
    const name = nameOf(key, shared.secret);
    const value = Buffer.allocUnsafe(headBytes + bytes.length);
    value.writeDoubleBE(storedAtMs, macBytes);
    value.set(bytes, headBytes);
    value.set(macOf(name, value.subarray(macBytes), shared.secret));
    // However long a large one takes, it is no reason for others to rest.
    shared.redis.tell((client) => client.set(name, value, "EX", maxAgeS));
  }

  return {
    keyOf: ({ accountId, deployment, model, text }) =>
      new Bun.CryptoHasher("sha256")
        .update(JSON.stringify([accountId, deployment, model, epoch]))
        .update(text)
        .digest("base64url"),
    find(key, withinS) {
      const found = kept.get(key);
      if (found === undefined) return undefined;
      const age = ageS(found);
      if (age > maxAgeS) kept.delete(key);
      return age > Math.min(withinS, maxAgeS) ? undefined : found;
    },
    async findShared(key, withinS) {
      if (shared === undefined || !shared.redis.isUp()) return undefined;
      const name = nameOf(key, shared.secret);
      const value = await shared.redis.ask((client) => client.getBuffer(name), isBytesOrNothing);
      if (value == null || value.length <= headBytes) return undefined;
      const mac = macOf(name, value.subarray(macBytes), shared.secret);
      if (!timingSafeEqual(mac, value.subarray(0, macBytes))) return undefined;
      const found = {
        bytes: new Uint8Array(value.subarray(headBytes)),
        storedAtMs: Math.min(value.readDoubleBE(macBytes), nowMs()),
      };
      return ageS(found) <= Math.min(withinS, maxAgeS) ? found : undefined;
    },
    keep(key, bytes, reading) {
      // A response that was read in pieces may be a part of a larger buffer.
      const own = bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
      const one = { bytes: own, storedAtMs: nowMs(), reading };
      kept.set(key, one);
      share(key, one);
    },
    keepHere: (key, found) => void kept.set(key, found),
    recognise: (bodyDigest, body) => void bodies.set(bodyDigest, body),
    findBody: (bodyDigest) => bodies.get(bodyDigest),
    ageS,
    bytes: () => kept.calculatedSize + bodies.calculatedSize,
  };
}

function isBytesOrNothing(reply: unknown): reply is Buffer | null {
  return reply === null || Buffer.isBuffer(reply);
}

/**
 * Says that one of our processes stored these bytes under this name: Redis may hold what others wrote, or return what is stored
 * under another name. A name has a colon, which no key has, so no MAC is a name as well.
 */
function macOf(name: string, stored: Uint8Array, secret: string): Buffer {
  return new Bun.CryptoHasher("sha256", secret).update(name).update(stored).digest().subarray(0, macBytes);
}
