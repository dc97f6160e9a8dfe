import { ServiceError } from "../errors.ts";
import type { Bucket, BucketState, TakeTokens } from "./token-buckets.ts";

/** An account that made a call this recently is expected to make more. */
const activeForMs = 10_000;

interface Account {
  count: number;
  lastCallAtMs: number;
  /** Refused calls minus later admitted ones. */
  refused: number;
}

interface InFlightLimits {
  /** The limit for all accounts together. */
  max: number;
  /** The limit for one account. */
  maxEach: number;
  /** Names the requests in errors. */
  what: string;
}

export type InFlight = ReturnType<typeof createInFlight>;

/**
 * Limits the calls in flight to `max`. A single account may use `maxEach`. While others are active, an account may exceed an equal
 * share only if room is left for each of them: one call, as many more as it has in flight, or as many as were refused.
 */
export function createInFlight({ max, maxEach, what }: InFlightLimits) {
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
    // With room for all the others to double, there is no need to add them up.
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
    /** Counts one more call of an account, or throws: `rate_limited` beyond the account's own limit, else `overloaded`. */
    enter(accountId: string): void {
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
    /** To be called when an admitted call has ended. */
    leave(accountId: string): void {
      const account = accounts.get(accountId);
      if (account !== undefined) account.count -= 1;
      total -= 1;
    },
    count: () => total,
  };
}

export interface AdmissionLimits {
  /** Names the requests in errors and buckets. */
  what: "prediction" | "evaluation";
  /** Requests per minute for each key, and for all sessions of a user together; 0: no limit. */
  ratePerMinute: number;
  /** Requests per minute for all keys and sessions of a user together; 0: no limit. */
  userRatePerMinute: number;
  /** Requests per minute for all users of an account together; 0: no limit. */
  accountRatePerMinute: number;
  /** Maximum concurrent requests of all accounts together, and of each account. */
  maxInFlight: number;
  maxInFlightEach: number;
  /** This process's share of a key's own limit on concurrent requests. */
  shareOf(limit: number): number;
}

/** A key's own limits; null: the limits for all keys apply. */
export interface KeyLimits {
  ratePerMinute: number | null;
  maxInFlight: number | null;
}

export const noKeyLimits: KeyLimits = { ratePerMinute: null, maxInFlight: null };

/** Whose limits a request counts against. */
export interface LimitHolders {
  /** A key has its own limits; the sessions of a user share theirs. */
  keyOrUserId: string;
  keyLimits: KeyLimits;
  userId: string;
  accountId: string;
}

/** The unused part of a rate, in whole requests. */
export interface RateStatus {
  limit: number;
  remaining: number;
}

export interface Admission {
  /** Admits a request or throws. A rejection counts against no limit. Returns the key's rate or, if that is unlimited, the next one. */
  admit(holders: LimitHolders): RateStatus | undefined | Promise<RateStatus | undefined>;
  /** A request that was admitted for these holders has ended. */
  leave(holders: LimitHolders): void;
  inFlight(): number;
}

/** A request beyond the rate of its key, its user or its account. */
export class RateLimitError extends ServiceError {
  /** The rate to report, as `admit` returns it; not necessarily the one that was exceeded. */
  readonly rate: RateStatus | undefined;

  constructor(message: string, rate: RateStatus | undefined, retryAfterS: number) {
    super("rate_limited", message, { retryAfterS });
    this.rate = rate;
  }
}

interface Level extends Bucket {
  /** Whose rate it is, for the error message. */
  whose: string;
}

/** Limits rates of keys, users and accounts, since keys are free to create, and concurrent requests, with a share for each account. */
export function createAdmission(limits: AdmissionLimits, takeTokens: TakeTokens): Admission {
  const { what } = limits;
  const inFlight = createInFlight({ max: limits.maxInFlight, maxEach: limits.maxInFlightEach, what });
  /** Contains only keys with their own limit. */
  const keysInFlight = new Map<string, number>();

  /** Skips rates without a limit: most servers have none. */
  function levelsOf({ keyOrUserId, keyLimits, userId, accountId }: LimitHolders): Level[] {
    const levels: Level[] = [];
    const add = (perMinute: number, holder: string, holderId: string, whose: string) => {
      if (perMinute > 0) levels.push({ id: `${what}/${holder}/${holderId}`, perMinute, whose });
    };
    const whoseKey = keyLimits.ratePerMinute === null ? "a key, or a user of the dashboard" : "this API key";
    add(keyLimits.ratePerMinute ?? limits.ratePerMinute, "key", keyOrUserId, whoseKey);
    add(limits.userRatePerMinute, "user", userId, "all keys and sessions of a user together");
    add(limits.accountRatePerMinute, "account", accountId, "an account");
    return levels;
  }

  function enterKey({ keyOrUserId, keyLimits: { maxInFlight } }: LimitHolders): void {
    if (maxInFlight === null) return;
    const count = keysInFlight.get(keyOrUserId) ?? 0;
    const share = limits.shareOf(maxInFlight);
    if (count >= share) {
      const where =
        share === maxInFlight ? "" : ` in this worker: its share of the key's limit of ${maxInFlight}`;
      throw new ServiceError(
        "rate_limited",
        `At most ${share} ${what} requests of this API key may be in progress at once${where}.`,
        { retryAfterS: 1 },
      );
    }
    keysInFlight.set(keyOrUserId, count + 1);
  }

  /** Uses the limits from when the request entered, as they may have changed since. */
  function leaveKey({ keyOrUserId, keyLimits }: LimitHolders): void {
    if (keyLimits.maxInFlight === null) return;
    const count = keysInFlight.get(keyOrUserId) ?? 0;
    if (count > 1) keysInFlight.set(keyOrUserId, count - 1);
    else keysInFlight.delete(keyOrUserId);
  }

  function enter(holders: LimitHolders): void {
    enterKey(holders);
    try {
      inFlight.enter(holders.accountId);
    } catch (error) {
      leaveKey(holders);
      throw error;
    }
  }

  function leave(holders: LimitHolders): void {
    inFlight.leave(holders.accountId);
    leaveKey(holders);
  }

  function takeRates(holders: LimitHolders): ReturnType<Admission["admit"]> {
    const levels = levelsOf(holders);
    if (levels.length === 0) return undefined;
    const states = takeTokens(levels);
    if (!(states instanceof Promise)) return statusOf(levels, states, what);
    return states
      .then((taken) => statusOf(levels, taken, what))
      .catch((error: unknown) => {
        leave(holders);
        throw error;
      });
  }

  return {
    admit(holders) {
      enter(holders);
      try {
        return takeRates(holders);
      } catch (error) {
        leave(holders);
        throw error;
      }
    },
    leave,
    inFlight: inFlight.count,
  };
}

/** The status of the first rate. Throws if any rate was exceeded. */
function statusOf(levels: readonly Level[], states: readonly BucketState[], what: AdmissionLimits["what"]) {
  const [first] = levels;
  const rate = first && { limit: first.perMinute, remaining: Math.floor(states[0]?.tokens ?? 0) };
  const waits = states.map(({ waitMs }) => waitMs);
  const longestMs = Math.max(...waits);
  const level = levels[waits.indexOf(longestMs)];
  if (longestMs === 0 || level === undefined) return rate;
  throw new RateLimitError(
    `At most ${level.perMinute} ${what} requests per minute are allowed for ${level.whose}.`,
    rate,
    Math.max(1, Math.ceil(longestMs / 1000)),
  );
}
