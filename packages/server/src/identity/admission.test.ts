import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { ServiceError } from "../errors.ts";
import { type Admission, createAdmission, RateLimitError } from "./admission.ts";

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

function refusalOf(admission: Admission, keyId: string): ServiceError | undefined {
  try {
    admission.admit(keyId);
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

/** How many are let in before the first refusal. */
function takeAll(admission: Admission, keyId: string): number {
  let count = 0;
  while (refusalOf(admission, keyId) === undefined) count += 1;
  return count;
}

describe("A key's rate", () => {
  test("gives its size at once and never more, however long nobody called", () => {
    const admission = createAdmission({ ratePerMinute: 30, maxInFlight: 10_000 });
    expect(takeAll(admission, "key")).toBe(30);
    jest.advanceTimersByTime(24 * 60 * 60_000);
    expect(takeAll(admission, "key")).toBe(30);
  });

  test("fills evenly: a sixtieth of it each second, and nothing is lost in between", () => {
    const admission = createAdmission({ ratePerMinute: 60, maxInFlight: 10_000 });
    takeAll(admission, "key");
    let given = 0;
    for (let tenth = 0; tenth < 600; tenth++) {
      jest.advanceTimersByTime(100);
      given += takeAll(admission, "key");
    }
    expect(given).toBeGreaterThanOrEqual(59);
    expect(given).toBeLessThanOrEqual(60);
  });

  test("tells what is left, and after how many whole seconds a refused call may come again", () => {
    const admission = createAdmission({ ratePerMinute: 4, maxInFlight: 10_000 });
    expect([3, 2, 1, 0].map(() => admission.admit("key"))).toEqual(
      [3, 2, 1, 0].map((remaining) => ({ limit: 4, remaining })),
    );
    const refusal = refusalOf(admission, "key");
    expect(refusal).toBeInstanceOf(RateLimitError);
    expect(refusal?.code).toBe("rate_limited");
    expect(refusal?.retryAfterS).toBe(15);
    jest.advanceTimersByTime(14_000);
    expect(refusalOf(admission, "key")?.retryAfterS).toBe(1);
    jest.advanceTimersByTime(1_000);
    expect(admission.admit("key")).toEqual({ limit: 4, remaining: 0 });
  });

  test("is never told to be tried again at once, however fast it fills", () => {
    const admission = createAdmission({ ratePerMinute: 6_000, maxInFlight: 10_000 });
    takeAll(admission, "key");
    expect(refusalOf(admission, "key")?.retryAfterS).toBe(1);
  });

  test("is each key's own", () => {
    const admission = createAdmission({ ratePerMinute: 2, maxInFlight: 10_000 });
    expect([takeAll(admission, "one"), takeAll(admission, "other"), takeAll(admission, "one")]).toEqual([
      2, 2, 0,
    ]);
  });

  test("is not limited where the limit is 0", () => {
    const admission = createAdmission({ ratePerMinute: 0, maxInFlight: 1_000 });
    for (let call = 0; call < 1_000; call++) expect(admission.admit("key")).toBeUndefined();
  });
});

describe("The predictions under way", () => {
  test("are no more than allowed, of all keys together", () => {
    const admission = createAdmission({ ratePerMinute: 0, maxInFlight: 3 });
    for (const key of ["a", "b", "c"]) admission.admit(key);
    const refusal = refusalOf(admission, "d");
    expect([refusal?.code, refusal?.retryAfterS]).toEqual(["overloaded", 1]);
    expect(admission.inFlight()).toBe(3);
    admission.leave();
    expect(refusalOf(admission, "d")).toBeUndefined();
    expect(refusalOf(admission, "e")?.code).toBe("overloaded");
  });

  test("when they are too many, cost a refused key nothing of its rate", () => {
    const admission = createAdmission({ ratePerMinute: 5, maxInFlight: 1 });
    expect(admission.admit("key")).toEqual({ limit: 5, remaining: 4 });
    for (let call = 0; call < 20; call++) expect(refusalOf(admission, "key")?.code).toBe("overloaded");
    admission.leave();
    expect(admission.admit("key")).toEqual({ limit: 5, remaining: 3 });
  });

  test("are not counted up by a call that the rate refuses", () => {
    const admission = createAdmission({ ratePerMinute: 1, maxInFlight: 2 });
    admission.admit("key");
    for (let call = 0; call < 20; call++) expect(refusalOf(admission, "key")?.code).toBe("rate_limited");
    expect(admission.inFlight()).toBe(1);
    expect(refusalOf(admission, "another")).toBeUndefined();
  });
});
