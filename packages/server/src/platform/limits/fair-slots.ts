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
   * magnitude wait in line, and dear ones behind those that are cheaper.
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
 * queueing with a flow for each order of magnitude: cheap work overtakes dear work, and any number of cheap ones leaves it a share.
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

  async function wait(
    accountId: string,
    account: Account,
    signal: AbortSignal,
    cost: number,
  ): Promise<() => void> {
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
