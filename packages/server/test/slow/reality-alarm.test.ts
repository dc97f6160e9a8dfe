import { expect, test } from "bun:test";
import { countAlarms } from "../support/reality/count-alarms.ts";

const worlds = 100;
const fivePercent = 5;

const designs = [20, 60, 1_000].flatMap((tasks) =>
  (["alike", "unlike", "whole"] as const).flatMap((tasksFail) =>
    (["alike", "unlike"] as const).map((visits) => ({ tasks, tasksFail, visits })),
  ),
);

test.each(designs)("$tasks tasks that fail $tasksFail and are visited $visits", (design) => {
  for (const limit of [0.01, 0.05, 0.3]) {
    const honest = { ...design, falseShare: limit };
    expect(countAlarms(worlds, { ...honest, episodes: 625 }, limit)).toBeLessThanOrEqual(fivePercent);
    expect(countAlarms(worlds, { ...honest, episodes: 3_750 }, limit)).toBeLessThanOrEqual(fivePercent);
    const ofPolicies = countAlarms(worlds, { ...honest, episodes: 2_500, policies: 10 }, limit);
    expect(ofPolicies).toBeLessThanOrEqual(fivePercent);
  }
});
