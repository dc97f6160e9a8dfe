import { describeP, formatPoints } from "@presage/contract/describe-runs";
import type { EnvironmentReality, RealityFigures } from "@presage/sdk";
import {
  counted,
  describeInterval,
  formatCount,
  formatPercent,
  formatScore,
  formatShare,
  unbroken,
} from "../../../format/numbers.ts";
import { CurveChart } from "../../../ui/charts/curve-plot.tsx";
import { IntervalTable } from "../../../ui/charts/interval-table.tsx";
import { ExplainedName } from "../../../ui/tooltip.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { EpisodeLink, Section, SmallTable } from "./section.tsx";

type Figure = RealityFigures["agreement"];

/** How often success is real. */
export function Outcomes({ figures, checks }: { figures: EnvironmentReality; checks: number }) {
  const { both, only_simulated, only_real, neither } = figures.counts;
  return (
    <Section
      title="How often success is real"
      hint={`${counted(checks, "check")}, ${counted(figures.agreement.count, "episode")}. Intervals are at 95\u00a0%, clustered by task. ${figures.divergence?.sentence ?? ""}`}
    >
      <SmallTable
        label="Episodes by their two outcomes"
        head={["Episodes", "Real success", "Real failure"]}
        rows={[
          [
            "Simulated success",
            formatCount(both),
            <span key="false" className={only_simulated > 0 ? "font-medium text-fail" : undefined}>
              {formatCount(only_simulated)}
            </span>,
          ],
          ["Simulated failure", formatCount(only_real), formatCount(neither)],
        ]}
      />
      <SmallTable
        label="Simulated against real"
        head={["Figure", "Value", "Interval", "Episodes", "Tasks"]}
        rows={rowsOf(figures).map(({ name, explanation, figure, format }) => [
          <ExplainedName key="name" name={name} explanation={explanation} />,
          <b key="value" className="font-medium">
            {figure.value === null ? "–" : format(figure.value)}
          </b>,
          <span key="interval" className="whitespace-nowrap">
            {figure.interval || !figure.note ? (
              intervalOf(figure, format)
            ) : (
              <ExplainedName name="none" explanation={figure.note} />
            )}
          </span>,
          formatCount(figure.count),
          formatCount(figure.tasks),
        ])}
      />
    </Section>
  );
}

interface FigureRow {
  name: string;
  explanation: string;
  figure: Figure;
  format(value: number): string;
}

function rowsOf(all: EnvironmentReality): FigureRow[] {
  const { false_success_rate: falsely, missed_success_rate: missed, agreement, bias, reward } = all;
  const { absolute_error: error, spearman } = reward;
  const { replayed, real, ratio } = all.consistency ?? {};
  const rows: [string, Figure | undefined, FigureRow["format"], string][] = [
    ["False success", falsely, formatShare, "Of the simulated successes, those that fail in reality."],
    ["Missed success", missed, formatShare, "Of the simulated failures, those that succeed in reality."],
    ["Agreement", agreement, formatShare, "Episodes that end alike."],
    ["Bias, points", bias, formatPoints, "Simulated less real success rate."],
    ["Reward error", error, formatScore, "How far the two rewards are apart, on average."],
    ["Rank correlation", spearman, formatScore, "Spearman: whether both rewards rank episodes alike."],
    ["Replayed success", replayed, formatShare, "Success of simulated actions in reality."],
    ["Real agents’ success", real, formatShare, "Success of agents that act in reality."],
    ["Consistency", ratio, formatScore, "Replayed success by that of real agents (W2R)."],
    ["Mean of policies", all.macro_consistency?.ratio, formatScore, "Consistency, with each policy equal."],
  ];
  return rows.flatMap(([name, figure, format, explanation]) =>
    figure === undefined || (error.count === 0 && (figure === error || figure === spearman))
      ? []
      : { name, figure, format, explanation },
  );
}

function intervalOf({ interval, note }: Figure, format: (value: number) => string): string {
  if (interval === null) return note ?? "no interval";
  if (format === formatShare) return describeInterval(interval);
  return `${format(interval.lower)} to ${format(interval.upper)}`;
}

/** Whether exploitation grows during the training of a policy. */
export function PolicyCurve({ figures }: { figures: EnvironmentReality }) {
  const { policies, policy_order, state, exploits } = figures;
  const points = policies.map(({ false_success_rate: figure }, index) => ({
    x: index + 1,
    value: figure.value,
    lower: figure.interval?.lower,
    upper: figure.interval?.upper,
    basis:
      figure.note ??
      `${counted(figure.count, "simulated success", "simulated successes")}, ${counted(figure.tasks, "task")}`,
  }));
  const limit = state?.false_success_limit;
  const order = policy_order.kendall_tau;
  return (
    <Section
      title="False success by policy"
      className={exploits.verbs.length === 0 ? "xl:col-span-2" : ""}
      hint={
        policies.length === 0
          ? "No episode names its policy. Label episodes with the step of the agent that acts (policy), and drift is seen here."
          : `Policies in the order in which they came. ${order === null ? (policy_order.note ?? "") : `Kendall’s τ of their order in simulation and in reality: ${formatScore(order)}, of ${policy_order.policies} policies.`}`
      }
    >
      {policies.length === 2 && (
        <IntervalTable
          mark="dot"
          label="False success by policy"
          rowLabel="Policy"
          valueLabel="False success, %"
          rows={policies.map(({ policy, false_success_rate: { value, interval, count } }, index) => ({
            key: policy,
            label: policy,
            value,
            lower: interval?.lower,
            upper: interval?.upper,
            reference: limit,
            count,
            basis: points[index]?.basis,
          }))}
          counted="Simulated successes. How many tasks they are of"
          referenceLabel="Limit"
          domain={[0, 1]}
          format={formatShare}
          formatTick={formatPercent}
        />
      )}
      {policies.length > 0 && policies.length !== 2 && (
        <CurveChart
          shape="line"
          label="False success by policy"
          xLabel="Policy"
          formatX={(x) => policies[x - 1]?.policy ?? ""}
          yLabel="False success"
          series={[
            { key: "rate", label: "False success", points },
            ...(limit === undefined
              ? []
              : [
                  {
                    key: "limit",
                    label: "Limit",
                    isDashed: true,
                    points: points.map(({ x }) => ({ x, value: limit })),
                  },
                ]),
          ]}
          format={formatShare}
          formatTick={formatPercent}
        />
      )}
    </Section>
  );
}

/** Actions that are typical of false successes, but not of true ones. */
export function Exploits({ exploits: { sentence, verbs } }: Pick<RealityFigures, "exploits">) {
  return (
    <Section title="Exploits" className="lg:max-xl:col-span-2" hint={sentence}>
      <div className="max-h-72 overflow-y-auto">
        <SmallTable
          label="Exploits"
          head={["Verb", "Log odds", "False, true", "Episodes"]}
          rows={verbs.map(({ verb, log_odds_ratio: odds, p_adjusted, examples, ...counts }) => [
            <InlineText key="verb" text={verb} />,
            <span key="odds" className="whitespace-normal">
              <b className="font-medium">{formatScore(odds.value)}</b> ({intervalOf(odds, formatScore)});{" "}
              {counted(odds.tasks, "task")}
              {p_adjusted !== null && `, ${unbroken(describeP(p_adjusted))}`}
            </span>,
            `${formatCount(counts.false_successes)}, ${formatCount(counts.true_successes)}`,
            examples.map(({ episode_id: id, check_id, position }, index) => (
              <span key={`${check_id} ${position}`} className="ml-1.5">
                {id === null ? index + 1 : <EpisodeLink id={id}>{index + 1}</EpisodeLink>}
              </span>
            )),
          ])}
        />
      </div>
    </Section>
  );
}
