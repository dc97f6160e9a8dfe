import { countTokens, isPrediction, shareOf, sumUsage } from "../../data/figures/usage-figures.ts";
import type { ComparedLatency, ComparedUsage } from "../../data/usage.ts";
import { formatCount, formatDuration, formatShare, formatShortCount } from "../../format/format-number.ts";
import { compareAmounts, compareRatios } from "./compare.ts";
import { Stat } from "./stat.tsx";

interface PredictionStatsProps {
  usage: ComparedUsage | undefined;
  latency: ComparedLatency | undefined;
}

export function PredictionStats({ usage, latency }: PredictionStatsProps) {
  const current = usage && sumUsage(usage.current.data.filter(isPrediction));
  const before = usage && sumUsage(usage.before.data.filter(isPrediction));
  const tokens = current && (current.promptTokens === null ? null : countTokens(current));
  return (
    <>
      <Stat
        label="Requests"
        explanation="Clients’ requests for a prediction in the period, with those that failed. The Predictions page counts what is stored, runs and episodes included."
        value={current && formatCount(current.requests)}
        change={
          current &&
          before &&
          compareAmounts({ current: current.requests, before: before.requests, format: formatCount })
        }
      >
        {current && `${formatCount(current.requests - current.failed)} succeeded`}
      </Stat>
      <Stat
        label="Error rate"
        explanation="The share of these requests that failed, for any reason."
        value={current && formatShare(shareOf(current.failed, current.requests))}
        change={
          current &&
          before &&
          compareRatios({
            current: { part: current.failed, whole: current.requests },
            before: { part: before.failed, whole: before.requests },
            format: formatShare,
            isMoreGood: false,
          })
        }
      >
        {current && `${formatCount(current.failed)} failed`}
      </Stat>
      <LatencyStat latency={latency} />
      <Stat
        label="Tokens"
        explanation="Of prompts and completions of these requests, as the upstream counted them."
        value={tokens === undefined ? undefined : formatShortCount(tokens)}
        exact={tokens === undefined ? undefined : formatCount(tokens)}
        change={
          tokens != null && before !== undefined
            ? compareAmounts({
                current: tokens,
                before: countTokens(before),
                format: formatShortCount,
              })
            : undefined
        }
      >
        {current &&
          `${formatShortCount(current.promptTokens)} in, ${formatShortCount(current.completionTokens)} out`}
      </Stat>
    </>
  );
}

function LatencyStat({ latency }: { latency: ComparedLatency | undefined }) {
  const current = latency?.current.overall.total_ms;
  const before = latency?.before.overall.total_ms;
  const overhead = latency?.current.overall.overhead_ms;
  return (
    <Stat
      label="Latency, median"
      explanation="Half of these requests took at most this, with the upstream’s time."
      value={latency && (current ? formatDuration(current.p50) : "–")}
      change={
        current && before
          ? compareAmounts({
              current: current.p50,
              before: before.p50,
              format: formatDuration,
              isMoreGood: false,
            })
          : undefined
      }
    >
      {overhead && `of which Presage ${formatDuration(overhead.p50)}`}
    </Stat>
  );
}
