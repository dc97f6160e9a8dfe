export interface FairSlotLimits {
  /** How many may hold a slot at once. */
  slots: number;
  /** How many of them one account may hold, however few others want any. Absent: all. */
  slotsEach?: number;
  /** Absent: everybody may wait until the signal is aborted. */
  queue?: QueueLimits;
}

export interface QueueLimits {
  /** How many of one account may wait. Absent: all. */
  maxWaitingEach?: number;
  /** Absent: until the signal is aborted. */
  maxWaitMs?: number;
  /** What is thrown at one more who would wait, or at one who has waited for too long. */
  refuse(why: "queue full" | "waited too long"): Error;
}

export interface FairSlots {
  /**
   * Resolves once the account has a slot, with the function that frees it again, to be called once. Rejects with the signal's
   * reason as soon as the signal is aborted.
   */
  take(accountId: string, signal: AbortSignal): Promise<() => void>;
  held(): number;
  waiting(): number;
}

interface Account {
  held: number;
  queue: Set<() => void>;
}

/**
 * Lets a limited number in at once; the rest wait. A slot that comes free goes to the account that holds the fewest, in turns among
 * equals, and within an account to whoever came first. So an account alone has all of them, and a newcomer waits for one
 * slot, not for the queue of another.
 */
export function createFairSlots({ slots, slotsEach = slots, queue: limits }: FairSlotLimits): FairSlots {
  /** Those that hold or wait, whoever gave a slot back last at the end. */
  const accounts = new Map<string, Account>();
  let held = 0;

  function nextToEnter(): Account | undefined {
    let next: Account | undefined;
    for (const account of accounts.values()) {
      if (account.queue.size === 0 || account.held >= slotsEach) continue;
      if (next === undefined || account.held < next.held) next = account;
    }
    return next;
  }

  function enter(accountId: string, account: Account): () => void {
    held += 1;
    account.held += 1;
    return () => {
      held -= 1;
      account.held -= 1;
      accounts.delete(accountId);
      if (account.held > 0 || account.queue.size > 0) accounts.set(accountId, account);
      letIn();
    };
  }

  function letIn(): void {
    if (held >= slots) return;
    const [first] = nextToEnter()?.queue ?? [];
    first?.();
  }

  function forgetIfIdle(accountId: string, account: Account): void {
    if (account.held === 0 && account.queue.size === 0) accounts.delete(accountId);
  }

  async function wait(accountId: string, account: Account, signal: AbortSignal): Promise<() => void> {
    const turn = Promise.withResolvers<() => void>();
    const { queue } = account;
    const comeIn = () => {
      queue.delete(comeIn);
      turn.resolve(enter(accountId, account));
    };
    // Who leaves the queue leaves it at once, or a slot freed just then would go to nobody.
    const giveUp = (reason: unknown) => {
      queue.delete(comeIn);
      forgetIfIdle(accountId, account);
      turn.reject(reason);
    };
    const onAbort = () => giveUp(signal.reason);
    const tooLong =
      limits?.maxWaitMs === undefined
        ? undefined
        : setTimeout(() => giveUp(limits.refuse("waited too long")), limits.maxWaitMs);
    queue.add(comeIn);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await turn.promise;
    } finally {
      clearTimeout(tooLong);
      signal.removeEventListener("abort", onAbort);
    }
  }

  return {
    async take(accountId, signal) {
      signal.throwIfAborted();
      let account = accounts.get(accountId);
      if (account === undefined) {
        account = { held: 0, queue: new Set() };
        accounts.set(accountId, account);
      }
      if (held < slots && account.held < slotsEach) return enter(accountId, account);
      if (limits?.maxWaitingEach !== undefined && account.queue.size >= limits.maxWaitingEach) {
        throw limits.refuse("queue full");
      }
      return await wait(accountId, account, signal);
    },
    held: () => held,
    waiting: () => accounts.values().reduce((sum, { queue }) => sum + queue.size, 0),
  };
}
