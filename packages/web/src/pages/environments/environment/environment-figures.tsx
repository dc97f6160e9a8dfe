import type { Environment, EpisodeFigures } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { usePresage } from "../../../data/client.ts";
import { realityQuery } from "../../../data/reality.ts";
import { counted, describeInterval, formatCount, formatScore, formatShare } from "../../../format/numbers.ts";
import { Tiles } from "../../../ui/card.tsx";
import { IntervalBar } from "../../../ui/charts/sparkline.tsx";
import { FalseSuccess } from "../list/environment-columns.tsx";
import { canSucceed, countSuccess, explainSuccess } from "../success-rate.tsx";

interface EnvironmentFiguresProps {
  environment: Environment;
  /** Undefined while loading, null without episodes. */
  figures: EpisodeFigures | null | undefined;
}

/** How the episodes of an environment went, and whether their success was real. */
export function EnvironmentFigures({ environment: { name, config }, figures }: EnvironmentFiguresProps) {
  const { data: reality } = useQuery(realityQuery(usePresage(), name));
  const falsely = reality?.false_success_rate.interval;
  const isChecked = (reality?.agreement.count ?? 0) > 0;
  const { success_rate: rate = null, success_interval: interval = null, finished = 0 } = figures ?? {};
  const {
    episodes = 0,
    open = 0,
    expired = 0,
    successes = 0,
    failures = 0,
    failed_steps = 0,
  } = figures ?? {};
  const shown = (value: string) => (figures === undefined ? "…" : value);
  const hasGoal = canSucceed(config);
  const endings = { succeeded: successes, failed: failures, "cut short": finished - successes - failures };
  const tiles = [
    {
      name: "Success rate",
      explanation: !hasGoal
        ? "No rule of this environment leads to success."
        : figures
          ? explainSuccess(figures)
          : "Successes among the episodes that have ended. There are none yet.",
      value: shown(
        !hasGoal ? "no goal" : figures && interval === null ? countSuccess(figures) : formatShare(rate),
      ),
      note: !hasGoal ? null : rate !== null && interval !== null ? (
        <span className="flex items-center gap-2 whitespace-nowrap">
          <span aria-hidden className="w-16">
            <IntervalBar value={rate} lower={interval.lower} upper={interval.upper} />
          </span>
          {describeInterval(interval)}
        </span>
      ) : (
        finished > 0 && `no interval${figures?.tasks === 1 ? ": one task only" : ""}`
      ),
    },
    {
      name: "False success",
      explanation: "Of the simulated successes that were checked, those that fail in reality.",
      value: reality ? <FalseSuccess figures={figures ?? undefined} reality={reality} /> : "…",
      note: (
        <Link
          to="/environments/$name"
          params={{ name }}
          search={{ tab: "reality" }}
          className="whitespace-nowrap text-accent-ink underline underline-offset-2"
        >
          {falsely ? describeInterval(falsely) : isChecked ? "How they were checked" : "How to check them"}
        </Link>
      ),
    },
    {
      name: "Episodes",
      explanation:
        "All episodes of all revisions. Open ones can be continued. Those that were not used for 15 minutes were left by their client, and are in no rate.",
      value: shown(formatCount(episodes)),
      note: figures && `${formatCount(open)} open, ${formatCount(expired)} expired`,
    },
    {
      name: "Ended",
      explanation: "With success, with failure, or cut short by the number of steps or a guard.",
      value: shown(formatCount(finished)),
      note: Object.entries(endings)
        .flatMap(([how, count]) => (count > 0 ? `${formatCount(count)} ${how}` : []))
        .join(", "),
    },
    {
      name: "Steps",
      explanation: `Mean number of steps of ${counted(finished, "ended episode")}.`,
      value: shown(figures?.mean_steps?.toFixed(1) ?? "–"),
      note:
        figures &&
        `mean of ${formatCount(finished)} ended${failed_steps > 0 ? `, ${counted(failed_steps, "prediction")} failed` : ""}`,
    },
    {
      name: "Reward",
      explanation: `Mean sum of rewards of ${counted(figures?.rewarded ?? 0, "ended episode")} with a reward.`,
      value: shown(formatScore(figures?.mean_reward ?? null)),
      note:
        figures && (figures.rewarded > 0 ? `mean of ${formatCount(figures.rewarded)} ended` : "no rewards"),
    },
  ];
  return <Tiles tiles={tiles} />;
}
