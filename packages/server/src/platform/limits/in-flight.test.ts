import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { createInFlight, type InFlight } from "./admission.ts";

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
