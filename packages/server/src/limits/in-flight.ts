import { ServiceError } from "../errors.ts";

/** An account that has asked within so long counts as one that may ask again. */
const activeForMs = 10_000;

export interface InFlight {
  /** Counts one more call of an account as under way, or throws `overloaded`. */
  enter(accountId: string): void;
  /** A call that was let in has ended. */
  leave(accountId: string): void;
  count(): number;
}

interface Account {
  count: number;
  askedAtMs: number;
  /** Refusals since then that no admission has made up for. */
  refused: number;
}

/**
 * A count of calls under way, `max` of them at most. An account alone may have them all. Beside others it may exceed an equal
 * share only as far as room is left for each of them: one place, as many again as it has, or as many as it was refused.
 */
export function createInFlight(max: number, refusal: string): InFlight {
  const accounts = new Map<string, Account>();
  let total = 0;
  let refusedAtMs = Number.NEGATIVE_INFINITY;

  function accountOf(accountId: string, nowMs: number): Account {
    const known = accounts.get(accountId);
    if (known !== undefined) {
      known.askedAtMs = nowMs;
      return known;
    }
    forgetIdle(nowMs);
    const account = { count: 0, askedAtMs: nowMs, refused: 0 };
    accounts.set(accountId, account);
    return account;
  }

  function forgetIdle(nowMs: number): void {
    for (const [id, { count, askedAtMs }] of accounts) {
      if (count === 0 && nowMs - askedAtMs > activeForMs) accounts.delete(id);
    }
  }

  const equalShare = () => Math.max(1, Math.floor(max / accounts.size));

  /** How much room the others are to be left. */
  function reservedBeside(account: Account, nowMs: number): number {
    if (account.count < equalShare()) return 0;
    // With room for each of the others to double there is nothing to add up.
    const isCalm = nowMs - refusedAtMs > activeForMs;
    if (isCalm && total + (total - account.count) + accounts.size < max) return 0;
    forgetIdle(nowMs);
    const share = equalShare();
    let reserved = 0;
    for (const other of accounts.values()) {
      if (other === account) continue;
      const wish = nowMs - other.askedAtMs > activeForMs ? 0 : Math.max(1, other.count, other.refused);
      reserved += Math.max(0, Math.min(share - other.count, wish));
    }
    return reserved;
  }

  return {
    enter(accountId) {
      const nowMs = performance.now();
      const account = accountOf(accountId, nowMs);
      if (total + reservedBeside(account, nowMs) >= max) {
        account.refused += 1;
        refusedAtMs = nowMs;
        throw new ServiceError("overloaded", refusal, { retryAfterS: 1 });
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
