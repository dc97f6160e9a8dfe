import { expect, test } from "bun:test";
import { alarmOf, countAlarms } from "../support/reality/count-alarms.ts";
import { simulateChecks } from "../support/reality/simulate-checks.ts";

const limit = 0.1;
const worlds = 100;

// test/slow/reality-alarm.test.ts has more simulations.
test("an honest world rings in 5 % at most over 500 looks, and a dishonest one always", () => {
  const world = { tasks: 20, episodes: 625 };
  for (const more of [{}, { tasksFail: "unlike", visits: "unlike" }, { tasksFail: "whole" }] as const)
    expect(countAlarms(worlds, { ...world, ...more, falseShare: limit }, limit)).toBeLessThanOrEqual(5);
  expect(countAlarms(worlds, { ...world, falseShare: 0.05 }, limit)).toBe(0);
  expect(countAlarms(worlds, { ...world, falseShare: 0.3 }, limit)).toBe(worlds);
});

test("ten policies together ring falsely in 5 % at most", () => {
  const world = { tasks: 40, episodes: 1_000, policies: 10, falseShare: limit };
  expect(countAlarms(worlds, world, limit)).toBeLessThanOrEqual(5);
});

test("an alarm says since when, and ends once the rate is shown to be below the limit", () => {
  const bad = simulateChecks({ seed: 1, tasks: 30, episodes: 400, falseShare: 0.2 });
  const good = simulateChecks({ seed: 2, tasks: 30, episodes: 20_000, falseShare: 0.01 });
  const rung = alarmOf(bad, limit);
  expect(rung).toMatchObject({ state: "alarm", tasks: 30, interval: { level: 0.95, kind: "anytime-valid" } });
  const since = rung.since ?? Number.NaN;
  expect(alarmOf(bad.slice(0, since), limit)).toMatchObject({ state: "ok", since: null });
  expect(alarmOf(bad.slice(0, since + 1), limit)).toMatchObject({ state: "alarm", since });
  expect(alarmOf([...bad, ...good.slice(0, 200)], limit)).toMatchObject({ state: "alarm", since });
  expect(alarmOf([...bad, ...good], limit)).toMatchObject({ state: "ok", since: null });
});

test("a late policy rings by itself, and with fewer than 20 tasks there is no state", () => {
  const early = simulateChecks({ seed: 1, tasks: 30, episodes: 3_000, falseShare: 0.02 });
  const late = simulateChecks({ seed: 2, tasks: 30, episodes: 150, falseShare: 0.5, policies: 1 });
  const alarm = alarmOf([...early.map((one) => ({ ...one, policy: "early" })), ...late], limit);
  expect([alarm.state, alarm.policies.map(({ policy, state }) => [policy, state])]).toEqual([
    "ok",
    [
      ["early", "ok"],
      ["p0", "alarm"],
    ],
  ]);
  expect(alarm.policies[1]?.sentence).toMatch(
    /^Of \d+ episodes of the policy p0 in 30 tasks that .* failed in reality: \d+\.\d % \(anytime-valid interval /,
  );

  const few = simulateChecks({ seed: 3, tasks: 19, episodes: 500, falseShare: 0.9 });
  expect(alarmOf(few, limit)).toMatchObject({ state: "too-few", since: null, interval: null, tasks: 19 });
  expect(alarmOf([], limit)).toMatchObject({
    ...{
      state: "too-few",
      value: null,
      sentence: "No checked episode succeeded in simulation.",
      policies: [],
    },
  });
});
