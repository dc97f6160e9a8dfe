import type { Goal } from "../report/goal.ts";
import type { AccountsSample } from "./beside/measure-accounts.ts";
import { besideCrowd, shareOfBareLoop } from "./evaluation-figures.ts";
import type { EvaluationsPlan } from "./plan-evaluations.ts";
import type { ThroughputSample } from "./throughput/measure-throughput.ts";

const leastShare = 0.2;
const mostP99Ratio = 3;

export const judgeThroughput = (
  samples: readonly ThroughputSample[],
  { connections }: EvaluationsPlan["throughput"],
): Goal => {
  const text = `At ${connections} connections, at least 1/5 of a bare insert loop's results a second`;
  const share = shareOfBareLoop(samples)?.median;
  if (share === undefined) return { text, measured: "not measured", met: undefined };
  return { text, measured: `1/${(1 / share).toFixed(1)}`, met: share >= leastShare };
};

export const judgeAccounts = (
  samples: readonly AccountsSample[],
  { heavyInFlight }: EvaluationsPlan["accounts"],
): Goal[] =>
  (["expensive rules", "bodies of a megabyte"] as const).map((crowd) => {
    const ratio = besideCrowd(samples, crowd)?.median;
    return {
      text: `Beside ${heavyInFlight} evaluations of another account (${crowd}), the p99 of small ones is at most ${mostP99Ratio} times that of idle`,
      measured: ratio === undefined ? "not measured" : `${ratio.toFixed(2)} times`,
      met: ratio === undefined ? undefined : ratio <= mostP99Ratio,
    };
  });
