import type { Goal } from "../report/goal.ts";
import { atConnections, shareOfBareLoop } from "./evaluation-figures.ts";
import type { EvaluationsPlan } from "./plan-evaluations.ts";
import type { ThroughputSample } from "./throughput/measure-throughput.ts";

const leastShare = 0.2;

/** Judged with the most connections, as in a training run of hundreds of rollouts. What fewer reach is said beside it. */
export const judgeThroughput = (
  samples: readonly ThroughputSample[],
  { connections }: EvaluationsPlan["throughput"],
): Goal => {
  const most = Math.max(...connections);
  const text = `At ${most} connections, at least 1/5 of a bare insert loop's results a second`;
  const shareAt = (count: number) => shareOfBareLoop(atConnections(samples, count))?.median;
  const share = shareAt(most);
  if (share === undefined) return { text, measured: "not measured", met: undefined };
  const beside = connections
    .filter((count) => count !== most)
    .map((count) => ` (${showShare(shareAt(count))} at ${count})`);
  return { text, measured: `${showShare(share)}${beside.join("")}`, met: share >= leastShare };
};

const showShare = (share: number | undefined): string =>
  share === undefined ? "not measured" : `1/${(1 / share).toFixed(1)}`;
