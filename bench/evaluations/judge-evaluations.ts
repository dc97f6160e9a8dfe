import type { Goal } from "../report/goal.ts";
import type { AccountsSample } from "./beside/measure-accounts.ts";
import { atConnections, besideCrowd, shareOfBareLoop } from "./evaluation-figures.ts";
import type { EvaluationsPlan } from "./plan-evaluations.ts";
import type { ThroughputSample } from "./throughput/measure-throughput.ts";

const leastShare = 0.2;
const mostP99Ratio = 3;

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

export const judgeAccounts = (
  samples: readonly AccountsSample[],
  { heavyInFlight }: EvaluationsPlan["accounts"],
): Goal[] =>
  (["expensive rules", "bodies of a megabyte"] as const).map((crowd) => {
    const ratio = besideCrowd(samples, crowd)?.median;
    return {
      text: `Beside ${heavyInFlight} evaluations of another account (${crowd}), the p99 of small ones is at most ${mostP99Ratio} times that beside nothing`,
      measured: ratio === undefined ? "not measured" : `${ratio.toFixed(2)} times`,
      met: ratio === undefined ? undefined : ratio <= mostP99Ratio,
    };
  });
