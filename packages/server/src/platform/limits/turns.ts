import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";

/** Fewer would lead to small commits for work that waits only for the store. */
const atOnceWhileIdle = 16;
/** Timers are not more precise than this. */
const shortestRestMs = 1;
/** The cap on a rest: a turn in which much else happened says little about background work. */
const longestRestMs = 20;

export type BackgroundTurns = ReturnType<typeof createBackgroundTurns>;

/**
 * Turns on the main thread for work that may wait, in the order in which they were requested. Otherwise work that becomes possible at
 * the same time, such as when a commit ends, would all be done in one turn of the event loop, and nothing else would be answered.
 * While there are live requests, a rest of `restPerWork` times its length follows each turn: with 2, work has a third of the thread.
 */
export function createBackgroundTurns(
  hasLiveRequests: () => boolean,
  {
    restPerWork = 2,
    nextLoop = (): Promise<unknown> => nextTurn(),
    rest = (ms: number) => sleep(ms),
    nowMs = () => performance.now(),
  } = {},
) {
  const waiting: (() => void)[] = [];
  let isRunning = false;

  async function run(): Promise<void> {
    isRunning = true;
    let owedMs = 0;
    await nextLoop();
    while (waiting.length > 0) {
      const startedAtMs = nowMs();
      for (const begin of waiting.splice(0, hasLiveRequests() ? 1 : atOnceWhileIdle)) begin();
      // By then the work is done, and everything that has arrived has been read.
      await nextLoop();
      owedMs = hasLiveRequests() ? owedMs + restPerWork * (nowMs() - startedAtMs) : 0;
      if (owedMs < shortestRestMs) continue;
      await rest(Math.min(owedMs, longestRestMs));
      owedMs = 0;
    }
    isRunning = false;
  }

  return {
    /** Resolves when it is the caller's turn, which should take less than a millisecond. Rejects with the signal's reason if aborted before. */
    async take(signal: AbortSignal): Promise<void> {
      signal.throwIfAborted();
      const turn = Promise.withResolvers<void>();
      waiting.push(turn.resolve);
      if (!isRunning) void run();
      await turn.promise;
      signal.throwIfAborted();
    },
  };
}

/** Requests count as live for this long after they end, as a client's next request must still come first. */
const liveForMs = 100;

/** Returns whether there are live requests, or were just now. */
export function watchLive(inFlight: () => number): () => boolean {
  let liveAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (inFlight() > 0) liveAtMs = performance.now();
    return performance.now() - liveAtMs < liveForMs;
  };
}

/** The limit on predictions. Calls that may wait use the places that live predictions leave free. */
export interface PlacesBehindLive {
  /** Live predictions in progress. */
  liveInFlight(): number;
  /** Calls in progress that may wait. */
  calls: { inFlight: number };
  /** The limit for both together. */
  maxInFlight: number;
}

/** How often a waiting call checks whether live predictions leave it a place. */
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
  /** The number of slots. */
  slots: number;
  /** The number of slots that one account may use, even if others are free. Absent: all. */
  slotsEach?: number;
  /** Absent: callers wait until their signal is aborted. */
  queue?: QueueLimits;
}

export interface QueueLimits {
  /** How many callers of one account may wait. Absent: any number. */
  maxWaitingEach?: number;
  /** How long a caller may wait. Absent: until its signal is aborted. */
  maxWaitMs?: number;
  /** The error of a caller who may not wait, or has waited for too long. */
  refuse(why: "queue full" | "waited too long"): Error;
}

interface Account {
  inUse: number;
  /** Sorted by `finish`: the next to enter is first. */
  queue: Waiting[];
  /** The `finish` of the last caller admitted from the queue. */
  now: number;
}

interface Waiting {
  /** The order of magnitude of its cost. */
  magnitude: number;
  /** When the call would have finished if the orders of magnitude that wait shared one slot, in units of cost. */
  finish: number;
  enter(): void;
}

export type FairSlots = ReturnType<typeof createFairSlots>;

/**
 * A semaphore that is fair between accounts: a released slot goes to the account that uses the fewest. A single account can use all
 * slots, and the next account then waits for one slot, not for the first account's queue. Within an account this is self-clocked fair
 * queueing with a flow for each order of magnitude: cheap work overtakes expensive work, which keeps a share however much cheap work
 * there is.
 */
export function createFairSlots({ slots, slotsEach = slots, queue: limits }: FairSlotLimits) {
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
    // Leaves the queue immediately; otherwise a slot released just then would be lost.
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
    /**
     * Resolves with the function that releases the slot, to be called once. Rejects with the signal's reason as soon as the
     * signal is aborted. `cost` is an estimate in any unit, above 0: callers of one account whose costs have the same order of
     * magnitude wait in line, and expensive ones behind those that are cheaper.
     */
    async take(accountId: string, signal: AbortSignal, cost = 1): Promise<() => void> {
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

/** The place behind the last waiting call of the same order of magnitude. */
function placeOf({ queue, now }: Account, cost: number): Pick<Waiting, "magnitude" | "finish"> {
  const magnitude = Math.floor(Math.log10(cost));
  const last = queue.findLast((one) => one.magnitude === magnitude);
  return { magnitude, finish: (last?.finish ?? now) + cost };
}

/** A caller that was already admitted may still give up, and is no longer in the queue. */
function leave(queue: Waiting[], own: Waiting): void {
  const place = queue.indexOf(own);
  if (place >= 0) queue.splice(place, 1);
}

/** With 2, long work and what is done with its result have about half of the thread while there are short requests. */
const longWorkRestPerWork = 2;
/** The rest for a body of about 16 MB. It is capped because a process that was stopped for an hour must not rest for two. */
const longestLongWorkRestMs = 200;

/** Turns for work that keeps the main thread busy for milliseconds, such as reading a body of megabytes. */
export type LongWork = ReturnType<typeof createLongWork>;

/**
 * One caller at a time: otherwise work that arrives together would all be done in one turn of the event loop, and nothing else would be
 * answered. Accounts take turns, so an account with many such requests delays another account's by only one of them. Long work has the
 * thread to itself only while there are no other requests: a thread that never rests delays each short request at every step.
 */
export function createLongWork({
  nowMs = () => performance.now(),
  rest = (ms: number): Promise<unknown> => sleep(ms),
} = {}) {
  const slots = createFairSlots({ slots: 1 });
  let cameShort = false;
  let liveUntilMs = Number.NEGATIVE_INFINITY;

  /** The caller uses its result in this turn of the event loop. The next turn is for other requests. */
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
    /**
     * Resolves when it is the caller's turn, with the function that ends it. Rejects with the signal's reason as soon as the signal is
     * aborted. Within an account, callers with far fewer `bytes` come first.
     */
    async take(accountId: string, signal: AbortSignal, bytes: number): Promise<() => void> {
      const release = await slots.take(accountId, signal, bytes);
      const startedAtMs = nowMs();
      return () => void restAndRelease(startedAtMs, release);
    },
    /** Reports a short request, so that long work rests for a while. */
    giveWay(): void {
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
/** With 7, a thread works an eighth of the time. */
const threadRestPerWork = 7;

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/**
 * The bytes of chunks, in slices; each slice is finished before the next is taken. While there are live requests, the thread rests
 * `threadRestPerWork` times as long as it works: even at low priority it delays threads that wake up on its processor, and the main thread receives less.
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

/** Far more than clients that wait for answers send in one turn; this many items take a few milliseconds. */
const maxItems = 64;

let items = 0;

/**
 * Counts a request, message or piece of a body that is handled in this turn of the event loop. Bun delivers all that it has read from a
 * socket, up to 512 KB, in one turn: items that need no further turn would keep everyone else waiting until all of them are handled. So
 * from the 65th item on this returns a promise of the next turn, to be awaited before the item is handled.
 */
export function itemOfTurn(): Promise<void> | undefined {
  items += 1;
  if (items === 1) setImmediate(startTurn);
  return items > maxItems ? nextTurn() : undefined;
}

function startTurn(): void {
  items = 0;
}
