import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { ServiceError } from "../errors.ts";
import {
  type Admission,
  type AdmissionLimits,
  createAdmission,
  createInFlight,
  type InFlight,
  type KeyLimits,
  type LimitHolders,
  noKeyLimits,
  RateLimitError,
} from "./admission.ts";
import { createTokenBuckets } from "./token-buckets.ts";

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** The holders of a key. By default, all keys share one user and one account. */
function holders(keyOrUserId: string, userId = "user", accountId = "account"): LimitHolders {
  return { keyOrUserId, userId, accountId, keyLimits: noKeyLimits };
}

/** An admission with these limits only. */
function admissionWith(limits: Partial<AdmissionLimits>): Admission {
  const noRates = { ratePerMinute: 0, userRatePerMinute: 0, accountRatePerMinute: 0 };
  const inFlight = { maxInFlight: 10_000, maxInFlightEach: 10_000, shareOf: (limit: number) => limit };
  return createAdmission(
    { what: "prediction", ...noRates, ...inFlight, ...limits },
    createTokenBuckets().take,
  );
}

function refusalOf(admission: Admission, who: string | LimitHolders): ServiceError | undefined {
  try {
    admission.admit(typeof who === "string" ? holders(who) : who);
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

/** Returns how many requests are admitted before the first refusal. */
function takeAll(admission: Admission, who: string | LimitHolders): number {
  let count = 0;
  while (refusalOf(admission, who) === undefined) count += 1;
  return count;
}

describe("A key's rate", () => {
  test("allows its full size at once and never more, however long it was unused", () => {
    const admission = admissionWith({ ratePerMinute: 30 });
    expect(takeAll(admission, "key")).toBe(30);
    jest.advanceTimersByTime(24 * 60 * 60_000);
    expect(takeAll(admission, "key")).toBe(30);
  });

  test("refills evenly: a sixtieth each second, and nothing is lost in between", () => {
    const admission = admissionWith({ ratePerMinute: 60 });
    takeAll(admission, "key");
    let given = 0;
    for (let tenth = 0; tenth < 600; tenth++) {
      jest.advanceTimersByTime(100);
      given += takeAll(admission, "key");
    }
    expect(given).toBeGreaterThanOrEqual(59);
    expect(given).toBeLessThanOrEqual(60);
  });

  test("reports what is left, and after how many whole seconds a rejected call may be retried", () => {
    const admission = admissionWith({ ratePerMinute: 4 });
    expect([3, 2, 1, 0].map(() => admission.admit(holders("key")))).toEqual(
      [3, 2, 1, 0].map((remaining) => ({ limit: 4, remaining })),
    );
    const refusal = refusalOf(admission, "key");
    expect(refusal).toBeInstanceOf(RateLimitError);
    expect(refusal?.code).toBe("rate_limited");
    expect(refusal?.retryAfterS).toBe(15);
    jest.advanceTimersByTime(14_000);
    expect(refusalOf(admission, "key")?.retryAfterS).toBe(1);
    jest.advanceTimersByTime(1_000);
    expect(admission.admit(holders("key"))).toEqual({ limit: 4, remaining: 0 });
  });

  test("never asks for an immediate retry, however fast it refills", () => {
    const admission = admissionWith({ ratePerMinute: 6_000 });
    takeAll(admission, "key");
    expect(refusalOf(admission, "key")?.retryAfterS).toBe(1);
  });

  test("is separate for each key", () => {
    const admission = admissionWith({ ratePerMinute: 2 });
    expect([takeAll(admission, "one"), takeAll(admission, "other"), takeAll(admission, "one")]).toEqual([
      2, 2, 0,
    ]);
  });

  test("is unlimited if it is 0", () => {
    const admission = admissionWith({ maxInFlight: 1_000 });
    for (let call = 0; call < 1_000; call++) expect(admission.admit(holders("key"))).toBeUndefined();
  });
});

describe("Concurrent predictions", () => {
  test("are limited for all keys together", () => {
    const admission = admissionWith({ maxInFlight: 3 });
    for (const key of ["a", "b", "c"]) admission.admit(holders(key));
    const refusal = refusalOf(admission, "d");
    expect([refusal?.code, refusal?.retryAfterS]).toEqual(["overloaded", 1]);
    expect(admission.inFlight()).toBe(3);
    admission.leave(holders("any"));
    expect(refusalOf(admission, "d")).toBeUndefined();
    expect(refusalOf(admission, "e")?.code).toBe("overloaded");
  });

  test("beyond the limit are rejected without using up the rate of the key", () => {
    const admission = admissionWith({ ratePerMinute: 5, maxInFlight: 1 });
    expect(admission.admit(holders("key"))).toEqual({ limit: 5, remaining: 4 });
    for (let call = 0; call < 20; call++) expect(refusalOf(admission, "key")?.code).toBe("overloaded");
    admission.leave(holders("any"));
    expect(admission.admit(holders("key"))).toEqual({ limit: 5, remaining: 3 });
  });

  test("do not include calls that the rate rejects", () => {
    const admission = admissionWith({ ratePerMinute: 1, maxInFlight: 2 });
    admission.admit(holders("key"));
    for (let call = 0; call < 20; call++) expect(refusalOf(admission, "key")?.code).toBe("rate_limited");
    expect(admission.inFlight()).toBe(1);
    expect(refusalOf(admission, "another")).toBeUndefined();
  });
});

describe("Beside the rate of keys", () => {
  test("a user has one for all keys, and its rejections use up no rate of a key", () => {
    const admission = admissionWith({ ratePerMinute: 5, userRatePerMinute: 12 });
    const keys = Array.from({ length: 100 }, (_, index) => `key ${index}`);
    expect(keys.map((key) => takeAll(admission, key)).reduce((sum, count) => sum + count)).toBe(12);
    const refusal = refusalOf(admission, "key 2");
    expect([refusal?.code, refusal?.retryAfterS]).toEqual(["rate_limited", 5]);
    expect(refusal).toMatchObject({ rate: { limit: 5, remaining: 3 } });
    expect(takeAll(admission, holders("another", "another user"))).toBe(5);
    jest.advanceTimersByTime(60_000);
    expect(takeAll(admission, "key 2")).toBe(5);
  });

  test("an account has one, and its rejections use up no rate of a key or user", () => {
    const admission = admissionWith({ ratePerMinute: 4, userRatePerMinute: 6, accountRatePerMinute: 8 });
    const of = (user: string, key: string) => takeAll(admission, holders(`${user}/${key}`, user));
    expect([of("one", "a"), of("one", "b"), of("two", "a"), of("three", "a")]).toEqual([4, 2, 2, 0]);
    expect(takeAll(admission, holders("four/a", "four", "another account"))).toBe(4);
    jest.advanceTimersByTime(30_000);
    // Half of the account's tokens are back; the user's rate would allow more.
    expect(of("two", "a")).toBe(4);
  });

  test("a rate of users is reported if keys have none", () => {
    const admission = admissionWith({ userRatePerMinute: 1 });
    expect(admission.admit(holders("key"))).toEqual({ limit: 1, remaining: 0 });
    expect(refusalOf(admission, "another")).toMatchObject({
      rate: { limit: 1, remaining: 0 },
      retryAfterS: 60,
    });
  });
});

describe("A key with limits of its own", () => {
  const own = (keyLimits: Partial<KeyLimits>, key = "own"): LimitHolders => ({
    ...holders(key),
    keyLimits: { ...noKeyLimits, ...keyLimits },
  });

  test("has its own rate instead of that of all keys, lower or higher, below that of its user", () => {
    const admission = admissionWith({ ratePerMinute: 5, userRatePerMinute: 20 });
    expect(takeAll(admission, own({ ratePerMinute: 2 }, "low"))).toBe(2);
    expect(takeAll(admission, own({ ratePerMinute: 12 }, "high"))).toBe(12);
    expect(takeAll(admission, "usual")).toBe(5);
    expect(takeAll(admission, own({ ratePerMinute: 100 }, "highest"))).toBe(1);
  });

  test("keeps its rate where keys have none", () => {
    const admission = admissionWith({});
    expect(admission.admit(own({ ratePerMinute: 3 }))).toEqual({ limit: 3, remaining: 2 });
    expect(admission.admit(holders("usual"))).toBeUndefined();
  });

  test("gets a lowered rate at once, and a raised one as it refills", () => {
    const admission = admissionWith({});
    expect(takeAll(admission, own({ ratePerMinute: 10 }))).toBe(10);
    expect(takeAll(admission, own({ ratePerMinute: 120 }))).toBe(0);
    jest.advanceTimersByTime(5_000);
    expect(takeAll(admission, own({ ratePerMinute: 120 }))).toBe(10);
    jest.advanceTimersByTime(60_000);
    expect(takeAll(admission, own({ ratePerMinute: 4 }))).toBe(4);
  });

  test("is refused beyond its concurrent requests, without using up any rate or place", () => {
    const admission = admissionWith({ ratePerMinute: 10, maxInFlight: 3 });
    const limited = own({ maxInFlight: 2 });
    expect(takeAll(admission, limited)).toBe(2);
    expect(refusalOf(admission, limited)).toMatchObject({ code: "rate_limited", retryAfterS: 1 });
    expect(admission.inFlight()).toBe(2);
    admission.leave(limited);
    expect(admission.admit(limited)).toEqual({ limit: 10, remaining: 7 });
  });

  test("is told its share where workers divide its limit", () => {
    const admission = admissionWith({ shareOf: (limit) => limit / 2 });
    const limited = own({ maxInFlight: 4 });
    expect(takeAll(admission, limited)).toBe(2);
    expect(refusalOf(admission, limited)?.message).toBe(
      "At most 2 prediction requests of this API key may be in progress at once in this worker: its share of the key's limit of 4.",
    );
  });

  test("that is refused for another reason has no request in progress", () => {
    const admission = admissionWith({ ratePerMinute: 1, maxInFlight: 1 });
    const limited = own({ maxInFlight: 1 });
    admission.admit(holders("usual"));
    expect(refusalOf(admission, limited)?.code).toBe("overloaded");
    admission.leave(holders("usual"));
    admission.admit(limited);
    admission.leave(limited);
    expect(refusalOf(admission, limited)).toBeInstanceOf(RateLimitError);
    jest.advanceTimersByTime(60_000);
    expect(refusalOf(admission, limited)).toBeUndefined();
  });

  test("whose limit changes while requests are in progress counts only those that began under it", () => {
    const admission = admissionWith({});
    const [before, after] = [own({}), own({ maxInFlight: 1 })];
    admission.admit(before);
    admission.admit(after);
    admission.leave(before);
    expect(refusalOf(admission, after)?.code).toBe("rate_limited");
    admission.leave(after);
    expect(refusalOf(admission, after)).toBeUndefined();
  });
});

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

function inFlightOf(max: number, maxEach = max): InFlight {
  return createInFlight({ max, maxEach, what: "prediction" });
}

function enters(inFlight: InFlight, accountId: string): boolean {
  try {
    inFlight.enter(accountId);
    return true;
  } catch {
    return false;
  }
}

/** Returns how many calls are admitted before the first refusal. */
function fill(inFlight: InFlight, accountId: string): number {
  let count = 0;
  while (enters(inFlight, accountId)) count += 1;
  return count;
}

test("a single account may use everything", () => {
  const inFlight = inFlightOf(1_000);
  expect(fill(inFlight, "a")).toBe(1_000);
  for (let call = 0; call < 500; call += 1) inFlight.leave("a");
  expect(fill(inFlight, "a")).toBe(500);
});

test("an account that uses everything makes room for another one", () => {
  const inFlight = inFlightOf(100);
  fill(inFlight, "a");
  expect(enters(inFlight, "b")).toBe(false);
  inFlight.leave("a");
  expect([enters(inFlight, "a"), enters(inFlight, "b")]).toEqual([false, true]);
  // The more the other account uses, the more is left for it, up to half.
  for (let round = 0; round < 1_000; round += 1) {
    inFlight.leave("a");
    enters(inFlight, "b");
    enters(inFlight, "a");
  }
  fill(inFlight, "b");
  let ofA = 0;
  for (; inFlight.count() > 0 && ofA < 50; ofA += 1) inFlight.leave("a");
  expect(inFlight.count()).toBe(50);
});

test("beside others with few calls an account gets nearly everything", () => {
  const inFlight = inFlightOf(1_000);
  for (let other = 0; other < 100; other += 1) inFlight.enter(`other ${other}`);
  expect(fill(inFlight, "a")).toBe(800);
  for (let other = 0; other < 100; other += 1) expect(enters(inFlight, `other ${other}`)).toBe(true);
});

test("the more another is refused, the more is left for it, up to an equal share", () => {
  const inFlight = inFlightOf(100);
  fill(inFlight, "a");
  for (let call = 0; call < 30; call += 1) enters(inFlight, "b");
  for (let call = 0; call < 40; call += 1) inFlight.leave("a");
  expect([fill(inFlight, "a"), fill(inFlight, "b")]).toEqual([10, 30]);
  for (let call = 0; call < 1_000; call += 1) enters(inFlight, "b");
  for (let call = 0; call < 70; call += 1) inFlight.leave("a");
  expect([fill(inFlight, "a"), fill(inFlight, "b")]).toEqual([50, 20]);
});

test("an account without calls in flight or in the last ten seconds gets no share", () => {
  const inFlight = inFlightOf(1_000);
  inFlight.enter("b");
  inFlight.leave("b");
  expect(fill(inFlight, "a")).toBe(999);
  jest.advanceTimersByTime(11_000);
  expect(fill(inFlight, "a")).toBe(1);
});

test("with more accounts than places, each gets at most one", () => {
  const inFlight = inFlightOf(2);
  fill(inFlight, "a");
  for (const other of ["b", "c", "d"]) expect(enters(inFlight, other)).toBe(false);
  inFlight.leave("a");
  expect([enters(inFlight, "a"), enters(inFlight, "c")]).toEqual([false, true]);
});

test("an account gets no more than its own limit, however much is free, and takes nothing from others", () => {
  const inFlight = inFlightOf(100, 10);
  expect(fill(inFlight, "a")).toBe(10);
  expect(() => inFlight.enter("a")).toThrow(
    expect.objectContaining({ code: "rate_limited", retryAfterS: 1 }),
  );
  expect(fill(inFlight, "b")).toBe(10);
  inFlight.leave("a");
  expect(fill(inFlight, "a")).toBe(1);
});
