import { ServiceError } from "../errors.ts";

/** An account that made a call this recently is expected to make more. */
const activeForMs = 10_000;

export interface InFlight {
  /** Counts one more call of an account, or throws: `rate_limited` beyond the account's own limit, else `overloaded`. */
  enter(accountId: string): void;
  /** To be called when an admitted call has ended. */
  leave(accountId: string): void;
  count(): number;
}

interface Account {
  count: number;
  lastCallAtMs: number;
  /** Refused calls minus later admitted ones. */
  refused: number;
}

export interface InFlightLimits {
  /** Of all accounts together. */
  max: number;
  /** Of one account. */
  maxEach: number;
  /** Names the requests in errors. */
  what: string;
}

/**
 * Limits the calls in flight to `max`. A single account may use `maxEach`. Beside others, an account may exceed an equal share
 * only while room is left for each of them: one call, as many again as it has in flight, or as many as were refused.
 */
export function createInFlight({ max, maxEach, what }: InFlightLimits): InFlight {
  const accounts = new Map<string, Account>();
  let total = 0;
  let refusedAtMs = Number.NEGATIVE_INFINITY;

  function accountOf(accountId: string, nowMs: number): Account {
    const known = accounts.get(accountId);
    if (known !== undefined) {
      known.lastCallAtMs = nowMs;
      return known;
    }
    forgetIdle(nowMs);
    const account = { count: 0, lastCallAtMs: nowMs, refused: 0 };
    accounts.set(accountId, account);
    return account;
  }

  function forgetIdle(nowMs: number): void {
    for (const [id, { count, lastCallAtMs }] of accounts) {
      if (count === 0 && nowMs - lastCallAtMs > activeForMs) accounts.delete(id);
    }
  }

  const equalShare = () => Math.max(1, Math.floor(max / accounts.size));

  /** How many calls must be left free for the other accounts. */
  function reservedForOthers(account: Account, nowMs: number): number {
    if (account.count < equalShare()) return 0;
    // With room for all the others to double, adding up is unnecessary.
    const isCalm = nowMs - refusedAtMs > activeForMs;
    if (isCalm && total + (total - account.count) + accounts.size < max) return 0;
    forgetIdle(nowMs);
    const share = equalShare();
    let reserved = 0;
    for (const other of accounts.values()) {
      if (other === account) continue;
      const wanted = nowMs - other.lastCallAtMs > activeForMs ? 0 : Math.max(1, other.count, other.refused);
      reserved += Math.max(0, Math.min(share - other.count, wanted));
    }
    return reserved;
  }

  return {
    enter(accountId) {
      const nowMs = performance.now();
      const account = accountOf(accountId, nowMs);
      if (account.count >= maxEach && maxEach < max)
        throw new ServiceError(
          "rate_limited",
          `At most ${maxEach} ${what} requests of an account may be in progress at once.`,
          { retryAfterS: 1 },
        );
      if (total + reservedForOthers(account, nowMs) >= max) {
        account.refused += 1;
        refusedAtMs = nowMs;
        throw new ServiceError(
          "overloaded",
          `At most ${max} ${what} requests may be in progress at once; this account has no free slot right now.`,
          { retryAfterS: 1 },
        );
      }
      account.refused = Math.max(0, account.refused - 1);
      account.count += 1;
      total += 1;
    },
    leave(accountId) {
      const account = accounts.get(accountId);
      if (account !== undefined) account.count -= 1;
      total -= 1;
    },
    count: () => total,
  };
}
