import type { OutcomePair } from "../../../src/platform/statistics/outcome-pairs.ts";
import { microsPerMs } from "../../../src/platform/storage/columns.ts";
import { startAlarm } from "../../../src/reality/watch.ts";
import { type SimulatedWorld, simulateChecks } from "./simulate-checks.ts";

const looks = 10;

/** The state of an alarm after these episodes; `since` is an index. */
export function alarmOf(episodes: readonly OutcomePair[], limit: number) {
  const alarm = startAlarm(limit);
  for (const [index, episode] of episodes.entries()) alarm.add(episode, index * microsPerMs);
  const { since, ...state } = alarm.end();
  return { ...state, since: since === null ? null : Date.parse(since) };
}

/**
 * The number of worlds in which an alarm rings, overall or, if there are policies, for any of them. A server looks after each
 * episode; an alarm lasts for at least a tenth of all episodes, so it is enough to look that often.
 */
export function countAlarms(worlds: number, world: Omit<SimulatedWorld, "seed">, limit: number): number {
  const hasPolicies = (world.policies ?? 0) > 0;
  const rings = (seed: number) => {
    const episodes = simulateChecks({ ...world, seed });
    return Array.from({ length: looks }, (_, look) => {
      const { state, policies } = alarmOf(episodes.slice(0, (episodes.length * (look + 1)) / looks), limit);
      return hasPolicies ? policies.some((one) => one.state === "alarm") : state === "alarm";
    }).some(Boolean);
  };
  return Array.from({ length: worlds }, (_, index) => rings(index + 1)).filter(Boolean).length;
}
