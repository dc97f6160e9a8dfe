import type { Goal } from "../report/goal.ts";
import { shareOfBareLoop } from "./evaluation-figures.ts";
import type { EvaluationsPlan } from "./plan-evaluations.ts";
import type { ThroughputSample } from "./throughput/measure-throughput.ts";

const leastShare = 0.2;

export const judgeThroughput = (
  samples: readonly ThroughputSample[],
  { connections }: EvaluationsPlan["throughput"],
): Goal => {
  const text = `At ${connections} connections, at least 1/5 of a bare insert loop's results a second`;
  const share = shareOfBareLoop(samples)?.median;
  if (share === undefined) return { text, measured: "not measured", met: undefined };
  return { text, measured: `1/${(1 / share).toFixed(1)}`, met: share >= leastShare };
};
