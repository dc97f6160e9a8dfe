import { timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import { type Cancellation, type Deadline, orAborted } from "../platform/limits/deadline.ts";
import type { Redis } from "../platform/redis.ts";
import {
  checkCompletion,
  endOfLeadingThoughts,
  findControlToken,
  readMessage,
  readTokenCounts,
} from "./completion.ts";
import {
  type CachePolicy,
  type CompletionBody,
  type CompletionChoice,
  type CompletionRequest,
  isRepeatable,
  type Sharing,
  type UpstreamCompletion,
} from "./upstream.ts";

/**
 * The parts of a completion that are read, with the upstream's field names. Everything else, such as log probabilities, which take far
 * more memory parsed than as bytes, is left out.
 */
export interface CompletionReading extends CompletionBody {
  choices: [ReadChoice];
}

interface ReadChoice extends CompletionChoice {
  message: { content: string; reasoning: string | undefined };
}

export function readCompletion({ model, usage, choices: [choice] }: CompletionBody): CompletionReading {
  const { content, reasoning } = readMessage(choice);
  return {
    model: scalarOf(model),
    usage: readTokenCounts(usage),
    choices: [
      {
        message: { content: copyOf(content), reasoning: reasoning && copyOf(reasoning) },
        finish_reason: scalarOf(choice.finish_reason),
        matched_stop: scalarOf(choice.matched_stop),
        stop_reason: scalarOf(choice.stop_reason),
      },
    ],
  };
}

/** The memory of a reading's texts. */
function bytesOfTexts({ choices: [{ message }] }: CompletionReading): number {
  return bytesOf(message.content) + bytesOf(message.reasoning ?? "");
}

function bytesOf(text: string): number {
  return text.length * (isLatin1(text) ? 1 : 2);
}

/** The same text in only as much memory as it needs. The parser leaves room at its end, and may use two bytes for each character. */
function copyOf(text: string): string {
  const encoding = isLatin1(text) ? "latin1" : "utf16le";
  return Buffer.from(text, encoding).toString(encoding);
}

function isLatin1(text: string): boolean {
  return !/[\u0100-\uffff]/.test(text);
}

function scalarOf(value: unknown): string | number | undefined {
  return typeof value === "string" || typeof value === "number" ? value : undefined;
}

interface Landed<Value> {
  value: Value;
  /** Whether no other caller has been given this value. */
  isFirst: boolean;
}

interface Flight<Value> {
  work: Promise<Value>;
  controller: AbortController;
  waiting: number;
  isOver: boolean;
  isTaken: boolean;
}

/** Work that several callers wait for, done once. */
export function createSingleFlight<Value>() {
  const flights = new Map<string, Flight<Value>>();

  function end(key: string, flight: Flight<Value>): void {
    flight.isOver = true;
    if (flights.get(key) === flight) flights.delete(key);
  }

  function start(key: string, begin: (signal: AbortSignal) => Promise<Value>): Flight<Value> {
    const controller = new AbortController();
    const work = begin(controller.signal);
    const flight = { work, controller, waiting: 0, isOver: false, isTaken: false };
    flights.set(key, flight);
    const onEnd = () => end(key, flight);
    work.then(onEnd, onEnd);
    return flight;
  }

  async function wait(key: string, flight: Flight<Value>, signal: Cancellation): Promise<Landed<Value>> {
    flight.waiting += 1;
    try {
      const value = await orAborted(flight.work, signal);
      const isFirst = !flight.isTaken;
      flight.isTaken = true;
      return { value, isFirst };
    } finally {
      flight.waiting -= 1;
      if (flight.waiting === 0 && !flight.isOver) {
        // Immediately, so that no one joins work that is being aborted.
        end(key, flight);
        flight.controller.abort(signal.reason);
      }
    }
  }

  return {
    // Not passed on to `wait`: `begin` holds a request, and thousands may wait.
    /**
     * Waits for the work under way for this key, or begins it. A caller leaves when its own signal is aborted; the work's signal
     * is aborted with the last caller's reason when that one has left. A failure goes to all who wait.
     */
    join: (
      key: string,
      signal: Cancellation,
      begin: (signal: AbortSignal) => Promise<Value>,
    ): Promise<Landed<Value>> => wait(key, flights.get(key) ?? start(key, begin), signal),
  };
}

/** A completion from the upstream, and whether it answers exactly the request that was written. */
export interface AskedCompletion {
  completion: UpstreamCompletion;
  mayKeep: boolean;
}

/** One deployment's completions; equal ones are requested once. */
export type CachedCompletions = ReturnType<typeof cacheCompletions>;

export function cacheCompletions(deployment: string, policy: CachePolicy, cache: CompletionCache) {
  const flights = createSingleFlight<UpstreamCompletion>();

  function toHit(kept: KeptCompletion): UpstreamCompletion {
    const { bytes, reading } = kept;
    return { bytes, body: reading, deployment, cache: { result: "hit", ageS: cache.ageS(kept) } };
  }

  function find(key: string, { maxAgeS }: Sharing): UpstreamCompletion | undefined {
    const kept = maxAgeS > 0 ? cache.find(key, maxAgeS) : undefined;
    return kept && toHit(kept);
  }

  async function findShared(key: string, maxAgeS: number): Promise<UpstreamCompletion | undefined> {
    const found = await cache.findShared(key, maxAgeS);
    if (found === undefined) return undefined;
    try {
      const body = checkCompletion({ status: 200, bytes: found.bytes, text: () => "" });
      const kept = { ...found, reading: readCompletion(body) };
      cache.keepHere(key, kept);
      return toHit(kept);
    } catch {
      // Whatever is stored there, it is not a completion.
      return undefined;
    }
  }

  // `ask` holds the request, so nothing keeps it while the response is waited for.
  function fly(
    key: string,
    { maxAgeS }: Sharing,
    ask: () => Promise<AskedCompletion>,
  ): Promise<UpstreamCompletion> {
    if (maxAgeS === 0) return keepFrom(key, ask());
    return findShared(key, maxAgeS).then((shared) => shared ?? keepFrom(key, ask()));
  }

  async function keepFrom(key: string, asked: Promise<AskedCompletion>): Promise<UpstreamCompletion> {
    const { completion, mayKeep } = await asked;
    if (mayKeep && isWhole(completion)) cache.keep(key, completion.bytes, readCompletion(completion.body));
    return completion;
  }

  async function wait(
    landing: ReturnType<typeof flights.join>,
    deadline: Deadline,
  ): Promise<UpstreamCompletion> {
    try {
      const { value, isFirst } = await landing;
      return value.cache === undefined ? { ...value, cache: { result: isFirst ? "miss" : "shared" } } : value;
    } finally {
      deadline.end();
    }
  }

  return {
    takes: (request: CompletionRequest): boolean => isRepeatable(request, policy),
    keyOf: ({ accountId }: Sharing, model: string, text: string): string =>
      cache.keyOf({ accountId, deployment, model, text }),
    find,
    /** Recognises the body once there was a hit for it, so that its key is known without reading and writing it again. */
    recognise(body: Omit<KnownBody, "deployment">, { bodyDigest }: Sharing): void {
      if (bodyDigest !== undefined) cache.recognise(bodyDigest, { ...body, deployment });
    },
    /** `find` by the body, if it is recognised and still means the same with this served model. */
    findByBody(sharing: Sharing, servedModel: string | undefined): UpstreamCompletion | undefined {
      const { bodyDigest } = sharing;
      const body = bodyDigest === undefined ? undefined : cache.findBody(bodyDigest);
      // A fallback, or the deployment that a chat's model names, recognises its own bodies.
      if (body === undefined || body.deployment !== deployment) return undefined;
      const isSame = body.servedModel === undefined || body.servedModel === servedModel;
      return isSame ? find(body.key, sharing) : undefined;
    },
    /** Waits for the same request if it is under way, looks where other processes keep theirs, or asks. */
    join(
      key: string,
      sharing: Sharing,
      deadline: Deadline,
      ask: (signal: AbortSignal) => Promise<AskedCompletion>,
    ): Promise<UpstreamCompletion> {
      // Callers with different bounds may not take each other's cached completion.
      const flight = `${key} ${sharing.maxAgeS}`;
      const begin = (signal: AbortSignal) => fly(key, sharing, () => ask(signal));
      return wait(flights.join(flight, deadline.signal, begin), deadline);
    },
  };
}

/** Whether the model finished with a text. Answers that were cut off, call a tool or cannot be an observation are not cached: another try may be better. */
function isWhole({ body }: UpstreamCompletion): boolean {
  const { content } = readMessage(body.choices[0]);
  const text = content.slice(endOfLeadingThoughts(content));
  if (text.trim() === "" || findControlToken(content) !== undefined) return false;
  return body.choices.every((choice: CompletionChoice | null) => choice?.finish_reason === "stop");
}

type Bytes = Uint8Array<ArrayBuffer>;

/** A completion as processes share it, and when it was stored. */
interface StoredCompletion {
  bytes: Bytes;
  storedAtMs: number;
}

/** A completion in memory, which need not be parsed again. */
interface KeptCompletion extends StoredCompletion {
  reading: CompletionReading;
}

/** The meaning of a body that an account has sent. */
interface KnownBody {
  /** The completion's key. */
  key: string;
  deployment: string;
  /** The model that the deployment served at that time, if the body names none. */
  servedModel: string | undefined;
}

export interface CompletionCacheOptions {
  maxBytes: number;
  maxAgeS: number;
  /** Changing the epoch makes everything that is cached stale. */
  epoch: string;
  /** Shared with other processes, under names and with MACs that no one can make without the secret. */
  shared?: { redis: Redis; secret: string } | undefined;
  /** Milliseconds since 1970; the system's clock if absent. */
  nowMs?: () => number;
}

/** Measured with completions of 500 bytes to 40 KB: the entry, its key, its reading and the bookkeeping of the bytes. */
const bytesPerEntry = 1_070;
/** How many bytes are allocated for each byte, on average over lengths. */
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

/** Completions by key: in memory, least recently used first out, and in Redis if there is one. */
export type CompletionCache = ReturnType<typeof createCompletionCache>;

export function createCompletionCache({
  maxBytes,
  maxAgeS,
  epoch,
  shared,
  nowMs = Date.now,
}: CompletionCacheOptions) {
  const maxBytesOfBodies = Math.ceil(maxBytes / partsForBodies);
  const bodies = new LRUCache<string, KnownBody>({
    maxSize: maxBytesOfBodies,
    sizeCalculation: () => bytesPerBody,
  });
  const kept = new LRUCache<string, KeptCompletion>({
    // A maximum of 0 would mean no maximum.
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
    // However long a large completion takes, that is no reason to pause other calls.
    shared.redis.tell((client) => client.set(name, value, "EX", maxAgeS));
  }

  return {
    /** The key of a request, from everything that its response depends on and the account. */
    keyOf(request: { accountId: string; deployment: string; model: string; text: string }): string {
      const { accountId, deployment, model, text } = request;
      const head = JSON.stringify([accountId, deployment, model, epoch]);
      return new Bun.CryptoHasher("sha256").update(head).update(text).digest("base64url");
    },
    /** The completion in memory, if it is no older than this. */
    find(key: string, withinS: number): KeptCompletion | undefined {
      const found = kept.get(key);
      if (found === undefined) return undefined;
      const age = ageS(found);
      if (age > maxAgeS) kept.delete(key);
      return age > Math.min(withinS, maxAgeS) ? undefined : found;
    },
    /** The completion that another process has stored. */
    async findShared(key: string, withinS: number): Promise<StoredCompletion | undefined> {
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
    /** Stores a new completion, for other processes as well. */
    keep(key: string, bytes: Bytes, reading: CompletionReading): void {
      // A response that was read in pieces may be a part of a larger buffer.
      const own = bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
      const one = { bytes: own, storedAtMs: nowMs(), reading };
      kept.set(key, one);
      share(key, one);
    },
    /** Stores, in this process, a completion that another process has stored. */
    keepHere: (key: string, found: KeptCompletion): void => void kept.set(key, found),
    /** Remembers a body's meaning by its digest. */
    recognise: (bodyDigest: string, body: KnownBody): void => void bodies.set(bodyDigest, body),
    findBody: (bodyDigest: string): KnownBody | undefined => bodies.get(bodyDigest),
    /** A completion's age in seconds. */
    ageS,
    /** The memory of all that is cached in this process. */
    bytes: () => kept.calculatedSize + bodies.calculatedSize,
  };
}

function isBytesOrNothing(reply: unknown): reply is Buffer | null {
  return reply === null || Buffer.isBuffer(reply);
}

/**
 * Says that one of our processes stored these bytes under this name: Redis may contain what others wrote, or return what is stored
 * under another name. A name has a colon, which no key has, so no MAC is valid as a name.
 */
function macOf(name: string, stored: Uint8Array, secret: string): Buffer {
  return new Bun.CryptoHasher("sha256", secret).update(name).update(stored).digest().subarray(0, macBytes);
}
