import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";

/** Fewer would make small commits of work that waits for nothing but the store. */
const atOnceWhileIdle = 16;
/** Timers are no more exact. */
const shortestRestMs = 1;
/** A turn in which much else happened says little about background work. */
const longestRestMs = 20;

export interface BackgroundTurns {
  /** Resolves when it is the caller's turn, to do what takes less than a millisecond. Rejects with the signal's reason if it is aborted by then. */
  take(signal: AbortSignal): Promise<void>;
}

/**
 * Turns on the main thread for work that may wait, in the order of the requests. What becomes possible at the
 * same time, when a commit ends for instance, would otherwise be done in one turn of the event loop, in which nothing else is
 * answered. While there are live requests, each turn is followed by `restPerWork` times its length: with 2, work has a third of the thread.
 */
export function createBackgroundTurns(
  hasLiveRequests: () => boolean,
  {
    restPerWork = 2,
    nextLoop = (): Promise<unknown> => nextTurn(),
    rest = (ms: number) => sleep(ms),
    nowMs = () => performance.now(),
  } = {},
): BackgroundTurns {
  const waiting: (() => void)[] = [];
  let isRunning = false;

  async function run(): Promise<void> {
    isRunning = true;
    let owedMs = 0;
    await nextLoop();
    while (waiting.length > 0) {
      const startedAtMs = nowMs();
      for (const begin of waiting.splice(0, hasLiveRequests() ? 1 : atOnceWhileIdle)) begin();
      // By then, it is done, and everything that has arrived is read.
      await nextLoop();
      owedMs = hasLiveRequests() ? owedMs + restPerWork * (nowMs() - startedAtMs) : 0;
      if (owedMs < shortestRestMs) continue;
      await rest(Math.min(owedMs, longestRestMs));
      owedMs = 0;
    }
    isRunning = false;
  }

  return {
    async take(signal) {
      signal.throwIfAborted();
      const turn = Promise.withResolvers<void>();
      waiting.push(turn.resolve);
      if (!isRunning) void run();
      await turn.promise;
      signal.throwIfAborted();
    },
  };
}

/** Between two requests of a client nothing is in flight, and yet the next one is to come first. */
const liveForMs = 100;

/** Tells whether there are live requests, or were just now. */
export function watchLive(inFlight: () => number): () => boolean {
  let liveAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (inFlight() > 0) liveAtMs = performance.now();
    return performance.now() - liveAtMs < liveForMs;
  };
}

/** The limit of predictions, of which calls that may wait use what live ones leave. */
export interface PlacesBehindLive {
  /** Live predictions in progress. */
  liveInFlight(): number;
  /** Calls that may wait, in progress. */
  calls: { inFlight: number };
  /** Of both together. */
  maxInFlight: number;
}

/** How long a call waits before it looks again whether live predictions leave it a place. */
const lookAgainMs = 50;

/** Resolves with the function that releases the place. Rejects with the signal's reason as soon as it is aborted. */
export async function takePlaceBehindLive(
  { liveInFlight, calls, maxInFlight }: PlacesBehindLive,
  signal: AbortSignal,
): Promise<() => void> {
  while (liveInFlight() + calls.inFlight >= maxInFlight) {
    await sleep(lookAgainMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
  calls.inFlight += 1;
  return () => {
    calls.inFlight -= 1;
  };
}

export interface FairSlotLimits {
  /** How many slots there are. */
  slots: number;
  /** How many of them one account may use, even if the others are free. Absent: all. */
  slotsEach?: number;
  /** Absent: callers wait until their signal is aborted. */
  queue?: QueueLimits;
}

export interface QueueLimits {
  /** How many callers of one account may wait. Absent: any number. */
  maxWaitingEach?: number;
  /** Absent: until the signal is aborted. */
  maxWaitMs?: number;
  /** The error of a caller who may not wait, or has waited for too long. */
  refuse(why: "queue full" | "waited too long"): Error;
}

export interface FairSlots {
  /**
   * Resolves with the function that releases the slot, to be called once. Rejects with the signal's reason as soon as the
   * signal is aborted. `cost` is an estimate in any unit, above 0: callers of one account whose costs have the same order of
   * magnitude wait in line, and expensive ones behind those that are cheaper.
   */
  take(accountId: string, signal: AbortSignal, cost?: number): Promise<() => void>;
  inUse(): number;
  waiting(): number;
}

interface Account {
  inUse: number;
  /** By `finish`, the next to enter first. */
  queue: Waiting[];
  /** The `finish` of the last that entered from the queue. */
  now: number;
}

interface Waiting {
  /** Of its cost. */
  magnitude: number;
  /** When it would have finished, if the orders of magnitude that wait shared one slot; in units of cost. */
  finish: number;
  enter(): void;
}

/**
 * A semaphore that is fair between accounts: a released slot goes to the account that uses the fewest. So a single account can
 * use all slots, and another one waits for one slot, not for the first one's queue. Within an account it is self-clocked fair
 * queueing with a flow for each order of magnitude: cheap work overtakes expensive work, which keeps a share however much cheap work
 * there is.
 */
export function createFairSlots({ slots, slotsEach = slots, queue: limits }: FairSlotLimits): FairSlots {
  /** Accounts that use slots or wait, in the order of their last release. */
  const accounts = new Map<string, Account>();
  let inUse = 0;

  function nextToEnter(): Account | undefined {
    let next: Account | undefined;
    for (const account of accounts.values()) {
      if (account.queue.length === 0 || account.inUse >= slotsEach) continue;
      if (next === undefined || account.inUse < next.inUse) next = account;
    }
    return next;
  }

  function enter(accountId: string, account: Account): () => void {
    inUse += 1;
    account.inUse += 1;
    return () => {
      inUse -= 1;
      account.inUse -= 1;
      accounts.delete(accountId);
      if (account.inUse > 0 || account.queue.length > 0) accounts.set(accountId, account);
      admitNext();
    };
  }

  function admitNext(): void {
    if (inUse >= slots) return;
    nextToEnter()?.queue[0]?.enter();
  }

  function forgetIfIdle(accountId: string, account: Account): void {
    if (account.inUse === 0 && account.queue.length === 0) accounts.delete(accountId);
  }

  async function wait(accountId: string, account: Account, signal: AbortSignal, cost: number) {
    const turn = Promise.withResolvers<() => void>();
    const { queue } = account;
    const own: Waiting = {
      ...placeOf(account, cost),
      enter() {
        leave(queue, own);
        account.now = own.finish;
        turn.resolve(enter(accountId, account));
      },
    };
    // Left at once, or a slot released just then would be lost.
    const giveUp = (reason: unknown) => {
      leave(queue, own);
      forgetIfIdle(accountId, account);
      turn.reject(reason);
    };
    const onAbort = () => giveUp(signal.reason);
    const tooLong =
      limits?.maxWaitMs === undefined
        ? undefined
        : setTimeout(() => giveUp(limits.refuse("waited too long")), limits.maxWaitMs);
    queue.splice(queue.findLastIndex(({ finish }) => finish <= own.finish) + 1, 0, own);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await turn.promise;
    } finally {
      clearTimeout(tooLong);
      signal.removeEventListener("abort", onAbort);
    }
  }

  return {
    async take(accountId, signal, cost = 1) {
      signal.throwIfAborted();
      let account = accounts.get(accountId);
      if (account === undefined) {
        account = { inUse: 0, queue: [], now: 0 };
        accounts.set(accountId, account);
      }
      if (inUse < slots && account.inUse < slotsEach) return enter(accountId, account);
      if (limits?.maxWaitingEach !== undefined && account.queue.length >= limits.maxWaitingEach) {
        throw limits.refuse("queue full");
      }
      return await wait(accountId, account, signal, cost);
    },
    inUse: () => inUse,
    waiting: () => accounts.values().reduce((sum, { queue }) => sum + queue.length, 0),
  };
}

/** Behind the last one that waits of the same order of magnitude. */
function placeOf({ queue, now }: Account, cost: number): Pick<Waiting, "magnitude" | "finish"> {
  const magnitude = Math.floor(Math.log10(cost));
  const last = queue.findLast((one) => one.magnitude === magnitude);
  return { magnitude, finish: (last?.finish ?? now) + cost };
}

/** Who was admitted may still give up, and is not in the queue any more. */
function leave(queue: Waiting[], own: Waiting): void {
  const place = queue.indexOf(own);
  if (place >= 0) queue.splice(place, 1);
}

/** Turns for work that keeps the main thread busy for milliseconds, such as reading a body of megabytes. */
export interface LongWork {
  /**
   * Resolves when it is the caller's turn, with the function that ends it. Rejects with the signal's reason as soon as the signal is
   * aborted. Of one account, far fewer `bytes` come first.
   */
  take(accountId: string, signal: AbortSignal, bytes: number): Promise<() => void>;
  /** A short request came, beside which long work rests for a while. */
  giveWay(): void;
}

/** With 2, long work and what is done with its result have about half of the thread beside short requests. */
const longWorkRestPerWork = 2;
/** What a body of some 16 MB is worth. A process that was stopped for an hour is not to rest for two. */
const longestLongWorkRestMs = 200;

/**
 * One caller at a time: what arrives together would otherwise be done in one turn of the event loop, in which nothing else is
 * answered. Accounts take turns, so that one with many such requests delays another's by one of them. Long work has the whole
 * thread only while nobody else asks: a thread that never rests keeps each short request waiting at every step of its way.
 */
export function createLongWork({
  nowMs = () => performance.now(),
  rest = (ms: number): Promise<unknown> => sleep(ms),
} = {}): LongWork {
  const slots = createFairSlots({ slots: 1 });
  let cameShort = false;
  let liveUntilMs = Number.NEGATIVE_INFINITY;

  /** What the caller does with its result is done in this turn of the loop. The next one is for other requests. */
  async function restAndRelease(startedAtMs: number, release: () => void): Promise<void> {
    await nextTurn();
    await nextTurn();
    const endedAtMs = nowMs();
    if (cameShort) liveUntilMs = endedAtMs + liveForMs;
    cameShort = false;
    const owedMs = longWorkRestPerWork * (endedAtMs - startedAtMs);
    if (endedAtMs < liveUntilMs && owedMs >= shortestRestMs) {
      await rest(Math.min(owedMs, longestLongWorkRestMs));
    }
    release();
  }

  return {
    async take(accountId, signal, bytes) {
      const release = await slots.take(accountId, signal, bytes);
      const startedAtMs = nowMs();
      return () => void restAndRelease(startedAtMs, release);
    },
    giveWay() {
      cameShort = true;
    },
  };
}

/** A piece of work for another thread. */
export interface Chunk {
  chunk: Uint8Array;
  /** Whether there are live requests. */
  givesWay: boolean;
}

const sliceBytes = 64 * 1024;
/** With 7, a thread has an eighth of the time. */
const threadRestPerWork = 7;

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/**
 * The bytes of chunks, of which all that is read is worked on before the next is taken. Beside live requests the thread rests
 * `threadRestPerWork` times as long as it works: however nice it is, who wakes up on its processor waits for its turn to end, and the main thread receives less.
 */
export async function* withRests(
  chunks: AsyncIterable<Chunk>,
  workedMs = threadCpuMs,
  rest = (ms: number): Promise<unknown> => sleep(ms),
): AsyncGenerator<Uint8Array, void> {
  let restedAtMs = workedMs();
  for await (const { chunk, givesWay } of chunks) {
    const bytesAtOnce = givesWay ? sliceBytes : chunk.length;
    for (let at = 0; at < chunk.length; at += bytesAtOnce) {
      yield chunk.subarray(at, at + bytesAtOnce);
      const owedMs = threadRestPerWork * (workedMs() - restedAtMs);
      if (givesWay && owedMs < shortestRestMs) continue;
      if (givesWay) await rest(Math.min(owedMs, longestRestMs));
      restedAtMs = workedMs();
    }
  }
}

/** Far more than arrives in one turn from clients that wait for answers; they take a few milliseconds. */
const maxItems = 64;

let items = 0;

/**
 * Counts a request, message or piece of a body that is handled in this turn of the event loop. Bun hands over all that it has read from
 * a socket, up to 512 KB, in one turn: what needs no other turn would keep everyone else waiting until all of it is handled. So from the
 * 65th item on this returns a promise of the next turn, to be awaited before the item is handled.
 */
export function itemOfTurn(): Promise<void> | undefined {
  items += 1;
  if (items === 1) setImmediate(startTurn);
  return items > maxItems ? nextTurn() : undefined;
}

function startTurn(): void {
  items = 0;
}
