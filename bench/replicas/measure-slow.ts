import type { ProcessGroup } from "../processes.ts";
import type { ReplicasPlan } from "./plan-replicas.ts";
import { fewPrompts, fewReplicas, fewSessions } from "./plan-replicas.ts";
import { playSessions } from "./play-sessions.ts";
import { startFleet } from "./start-fleet.ts";

export interface SlowResult {
  /** Steps a second in each round: with one of the replicas ten times as slow, and of the others alone. */
  readonly withSlow: number;
  readonly withoutSlow: number;
}

const times = 10;

/** One replica is ten times as slow as the others: does it drag them down? */
export const measureSlow = async (
  group: ProcessGroup,
  { model, slow: { rounds, durationMs } }: ReplicasPlan,
): Promise<SlowResult[]> => {
  const fleet = await startFleet(group, "slow", { replicas: fewReplicas, model, processes: "one for all" });
  const [slowPort = 0] = fleet.ports;
  await fleet.setSlowness(slowPort, times);
  const measure = async (deployment: string) => {
    const played = await playSessions(group, fleet, {
      policy: "presage",
      deployments: [deployment],
      prompts: fewPrompts,
      sessions: fewSessions,
      // Otherwise sessions end and begin anew, all at the same time.
      steps: Number.MAX_SAFE_INTEGER,
      durationMs,
    });
    const endMs = Math.max(...played.steps.map(({ endedAtMs }) => endedAtMs));
    // Before that, Presage learns which one is slow.
    const counted = played.steps.filter(({ endedAtMs }) => endedAtMs > endMs - durationMs / 2);
    return counted.length / (durationMs / 2_000);
  };
  const results: SlowResult[] = [];
  while (results.length < rounds) {
    const result = { withSlow: await measure(fleet.all), withoutSlow: await measure(fleet.others) };
    results.push(result);
    process.stdout.write(`one slow   ${JSON.stringify(result)}\n`);
  }
  await fleet.stop();
  return results;
};
