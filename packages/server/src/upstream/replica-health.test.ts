import { expect, test } from "bun:test";
import { createReplicaHealth, type ReplicaHealth } from "./replica-health.ts";

function fail(health: ReplicaHealth, nowMs: number, times = 3, mayEject = () => true): void {
  for (let time = 0; time < times; time += 1) health.failed(nowMs, nowMs, { mayEject });
}

test("three failures in a row eject a replica; an answer between them starts the row again", () => {
  const health = createReplicaHealth();
  fail(health, 1, 2);
  health.answered(2, 2);
  fail(health, 3, 2);
  expect(health.state()).toBe("up");
  fail(health, 4, 1);
  expect([health.state(), health.ejections()]).toEqual(["ejected", 1]);
});

test("a replica that may not be ejected stays up as failing, and goes out as soon as it may", () => {
  const health = createReplicaHealth();
  fail(health, 1, 5, () => false);
  expect([health.state(), health.isFailing()]).toEqual(["up", true]);
  fail(health, 2, 1);
  expect(health.state()).toBe("ejected");
});

test("an ejected replica is probed after 5 s, then 10, 20, 40 and 60 s while nothing answers", () => {
  const health = createReplicaHealth();
  fail(health, 0);
  let nowMs = 0;
  for (const outS of [5, 10, 20, 40, 60, 60]) {
    expect(health.isProbeDue(nowMs + outS * 1_000 - 1)).toBe(false);
    nowMs += outS * 1_000;
    expect(health.isProbeDue(nowMs)).toBe(true);
    health.probed(false, nowMs);
  }
});

test("a probe and one live answer bring it back; a failed live call ejects it for twice as long", () => {
  const health = createReplicaHealth();
  fail(health, 0);
  health.probed(true, 5_000);
  expect(health.state()).toBe("returning");
  fail(health, 5_001, 1);
  expect(health.state()).toBe("ejected");
  expect([health.isProbeDue(15_000), health.isProbeDue(15_001)]).toEqual([false, true]);
  health.probed(true, 15_001);
  health.answered(15_002, 15_003);
  expect([health.state(), health.isFailing()]).toEqual(["up", false]);
});

test("calls that began before the ejection neither bring it back nor count again", () => {
  const health = createReplicaHealth();
  fail(health, 100);
  health.answered(50, 200);
  fail(health, 300, 3);
  expect([health.state(), health.ejections()]).toEqual(["ejected", 1]);
  health.probed(true, 5_100);
  health.answered(50, 5_200);
  fail(health, 50, 1);
  expect(health.state()).toBe("returning");
});

test("a replica that was up for a minute is ejected for 5 s again", () => {
  const health = createReplicaHealth();
  fail(health, 0);
  health.probed(true, 5_000);
  health.answered(5_000, 5_000);
  fail(health, 10_000);
  expect([health.isProbeDue(19_999), health.isProbeDue(20_000)]).toEqual([false, true]);
  health.probed(true, 20_000);
  health.answered(20_000, 20_000);
  fail(health, 80_000);
  expect(health.isProbeDue(85_000)).toBe(true);
});

test("resets of kept connections eject a replica, but it is only down once a new connection fails too", () => {
  const health = createReplicaHealth();
  for (let time = 0; time < 3; time += 1) health.failed(1, 1, { mayEject: () => false, mayBeStale: true });
  expect([health.isFailing(), health.isDown()]).toEqual([true, false]);
  fail(health, 2, 3, () => false);
  expect(health.isDown()).toBe(true);
  health.answered(3, 3);
  expect([health.isFailing(), health.isDown()]).toEqual([false, false]);
});
