import { runWrk } from "../load/run-wrk.ts";
import type { ProcessGroup } from "../processes.ts";
import type { Upstream } from "../targets/start-upstream.ts";
import { measureLoad } from "./measure-load.ts";
import type { PredictionsPlan } from "./plan-predictions.ts";
import type { RunningTarget } from "./running-target.ts";
import type { Sample } from "./sample.ts";

const warmUpConnections = 32;

const describe = ({ target, scenario, round, ...figures }: Sample): string => {
  const { connections, delayMs } = scenario;
  const cpu = figures.cpuUsPerRequest === undefined ? "" : `, ${figures.cpuUsPerRequest.toFixed(1)} us CPU`;
  const rate = `${figures.requestsPerSecond.toFixed(0)}/s, p50 ${figures.p50Us} us, p99 ${figures.p99Us} us${cpu}`;
  const problem = figures.problem === undefined ? "" : `  FAILED: ${figures.problem}`;
  return `round ${round + 1}  ${delayMs} ms  ${connections} connections  ${target}: ${rate}${problem}\n`;
};

/**
 * Targets that are compared are measured within seconds of each other, and none is always first: a noisy machine drifts,
 * so a figure only means something next to its neighbours.
 */
export const measureRounds = async (
  group: ProcessGroup,
  upstream: Upstream,
  targets: readonly RunningTarget[],
  plan: PredictionsPlan,
): Promise<Sample[]> => {
  await upstream.set(0);
  for (const target of targets) await runWrk(group, target.request, warmUpConnections, plan.firstWarmUpS);

  const samples: Sample[] = [];
  for (let round = 0; round < plan.rounds; round += 1) {
    const first = round % targets.length;
    const order = [...targets.slice(first), ...targets.slice(0, first)];
    for (const scenario of plan.scenarios) {
      for (const target of order) {
        const measured = await measureLoad(group, upstream, target, scenario, plan.warmUpS);
        const sample = { ...measured, round };
        process.stdout.write(describe(sample));
        samples.push(sample);
      }
    }
  }
  return samples;
};
