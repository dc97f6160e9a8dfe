import { formatPoints } from "@presage/contract/describe-runs";
import type { EnvironmentReality, RealityFigures } from "@presage/sdk";
import { counted, formatCount, formatP, formatScore, formatShare } from "../../../format/numbers.ts";
import { CurveChart } from "../../../ui/charts/curve-plot.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../../ui/table.tsx";
import { ExplainedName } from "../../../ui/tooltip.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { EpisodeLink, Section } from "./section.tsx";

type Figure = RealityFigures["agreement"];

const tight = "px-1.5! py-1! first:pl-4! last:pr-4!";
const number = `${tight} whitespace-nowrap`;
const lined = "border-t border-line";

/** How often success is real. */
export function Outcomes({ figures }: { figures: EnvironmentReality }) {
  const { both, only_simulated, only_real, neither } = figures.counts;
  const rows = [
    { name: "Simulated success", real: both, not: only_simulated, look: "font-medium text-fail" },
    { name: "Simulated failure", real: only_real, not: neither, look: undefined },
  ];
  return (
    <Section
      title="How often success is real"
      hint="All checks of all revisions. Intervals are at 95 %, clustered by task."
    >
      <Table label="Episodes by their two outcomes" className="text-xs">
        <thead>
          <tr>
            <HeaderCell className={tight}>Episodes</HeaderCell>
            <HeaderCell isNumber className={tight}>
              Real success
            </HeaderCell>
            <HeaderCell isNumber className={tight}>
              Real failure
            </HeaderCell>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, real, not, look }) => (
            <tr key={name} className={lined}>
              <RowHeader className={tight}>{name}</RowHeader>
              <Cell isNumber className={tight}>
                {formatCount(real)}
              </Cell>
              <Cell isNumber className={`${tight} ${not > 0 ? look : ""}`}>
                {formatCount(not)}
              </Cell>
            </tr>
          ))}
        </tbody>
      </Table>
      <Table label="Simulated against real" className="text-xs">
        <thead className={lined}>
          <tr>
            {["Figure", "Value", "Interval", "Episodes", "Tasks"].map((name, index) => (
              <HeaderCell key={name} isNumber={index > 0} className={tight}>
                {name}
              </HeaderCell>
            ))}
          </tr>
        </thead>
        <tbody>
          {rowsOf(figures).map(({ name, explanation, figure, format }) => (
            <tr key={name} className={lined}>
              <RowHeader className={number}>
                <ExplainedName name={name} explanation={explanation} />
              </RowHeader>
              <Cell isNumber className={`${number} font-medium`}>
                {figure.value === null ? "–" : format(figure.value)}
              </Cell>
              <Cell isNumber className={`${tight} text-ink-2`}>
                {intervalOf(figure, format)}
              </Cell>
              <Cell isNumber className={tight}>
                {formatCount(figure.count)}
              </Cell>
              <Cell isNumber className={tight}>
                {formatCount(figure.tasks)}
              </Cell>
            </tr>
          ))}
        </tbody>
      </Table>
    </Section>
  );
}

interface FigureRow {
  name: string;
  explanation: string;
  figure: Figure;
  format(value: number): string;
}

function rowsOf({ reward, consistency, ...figures }: EnvironmentReality): FigureRow[] {
  const row = (name: string, figure: Figure, format: FigureRow["format"], explanation: string) => ({
    ...{ name, figure, format, explanation },
  });
  const { absolute_error: error, spearman } = reward;
  return [
    row(
      "False success",
      figures.false_success_rate,
      formatShare,
      "Of the simulated successes, those that fail in reality.",
    ),
    row(
      "Missed success",
      figures.missed_success_rate,
      formatShare,
      "Of the simulated failures, those that succeed in reality.",
    ),
    row("Agreement", figures.agreement, formatShare, "Episodes that end alike."),
    row("Bias, points", figures.bias, formatPoints, "Simulated less real success rate."),
    ...(error.count === 0
      ? []
      : [
          row("Reward error", error, formatScore, "How far the two rewards are apart, on average."),
          row("Reward ρ", spearman, formatScore, "Spearman: whether both rank episodes alike."),
        ]),
    ...(consistency === null
      ? []
      : [
          row("W2R", consistency.replayed, formatShare, "Success of simulated actions in reality."),
          row("Real agents", consistency.real, formatShare, "Success of agents that act in reality."),
          row("Consistency", consistency.ratio, formatScore, "W2R by the success of real agents."),
        ]),
  ];
}

function intervalOf({ interval, note }: Figure, format: (value: number) => string): string {
  if (interval === null) return note ?? "no interval";
  return `${format(interval.lower)} – ${format(interval.upper)}`;
}

const percent = (value: number) => `${Math.round(value * 100)} %`;

/** Whether exploitation grows while a policy is trained. */
export function PolicyCurve({ figures: { policies, policy_order, state } }: { figures: EnvironmentReality }) {
  const points = policies.map(({ false_success_rate: figure }, index) => ({
    ...{ x: index + 1, value: figure.value, lower: figure.interval?.lower, upper: figure.interval?.upper },
    basis:
      figure.note ??
      `${counted(figure.count, "simulated success", "simulated successes")}, ${counted(figure.tasks, "task")}`,
  }));
  const limit = state?.false_success_limit;
  const order = policy_order.kendall_tau;
  return (
    <Section
      title="False success by policy"
      hint={
        policies.length === 0
          ? "No episode names its policy. Label episodes with the step of the agent that acts (policy), and drift is seen here."
          : `Policies in the order in which they came. ${order === null ? (policy_order.note ?? "") : `Reality ranks them alike: τ ${formatScore(order)}, of ${policy_order.policies} policies.`}`
      }
    >
      {policies.length > 0 && (
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
          formatTick={percent}
        />
      )}
    </Section>
  );
}

/** What false successes do that true ones do not. */
export function Exploits({ exploits: { sentence, verbs } }: Pick<RealityFigures, "exploits">) {
  return (
    <Section title="Exploits" hint={sentence}>
      {verbs.length > 0 && (
        <div className="max-h-72 overflow-y-auto">
          <Table label="Exploits" className="text-xs">
            <thead>
              <tr>
                <HeaderCell className={tight}>Verb</HeaderCell>
                <HeaderCell isNumber className={tight}>
                  Log odds
                </HeaderCell>
                <HeaderCell isNumber className={tight}>
                  <ExplainedName
                    name="False, true"
                    explanation="How many false and how many true successes have it; log odds compares the two."
                  />
                </HeaderCell>
                <HeaderCell className={tight}>Examples</HeaderCell>
              </tr>
            </thead>
            <tbody>
              {verbs.map(({ verb, log_odds_ratio: odds, examples, ...counts }) => (
                <tr key={verb} className={lined}>
                  <RowHeader className={`${tight} wrap-anywhere`}>
                    <InlineText text={verb} />
                  </RowHeader>
                  <Cell isNumber className={tight}>
                    <span className="font-medium">{formatScore(odds.value)}</span>
                    <span className="block text-ink-2">{intervalOf(odds, formatScore)}</span>
                    <span className="block text-ink-3">
                      {counted(odds.tasks, "task")}, p {formatP(counts.p_adjusted)}
                    </span>
                  </Cell>
                  <Cell isNumber className={tight}>
                    {counts.false_successes}, {counts.true_successes}
                  </Cell>
                  <Cell className={tight}>
                    {examples.map(({ episode_id: id, position }, index) => (
                      <span key={`${id} ${position}`} className="mr-1.5">
                        {id === null ? index + 1 : <EpisodeLink id={id}>{index + 1}</EpisodeLink>}
                      </span>
                    ))}
                  </Cell>
                </tr>
              ))}
            </tbody>
          </Table>
        </div>
      )}
    </Section>
  );
}

/** How long observations are those of reality. */
export function Divergence({ divergence }: { divergence: NonNullable<RealityFigures["divergence"]> }) {
  const points = divergence.steps.map(({ step, survival, interval, at_risk }) => ({
    ...{ x: step, value: survival, lower: interval?.lower, upper: interval?.upper },
    basis: `${formatCount(at_risk)} at risk`,
  }));
  return (
    <Section title="First divergence" hint={divergence.sentence} className="lg:col-span-3">
      <CurveChart
        shape="step"
        label="Share of episodes whose observations have not differed"
        xLabel="Step"
        yLabel="Not diverged"
        series={[{ key: "survival", label: "Not diverged", points: [{ x: 0, value: 1 }, ...points] }]}
        format={formatShare}
        formatTick={percent}
      />
    </Section>
  );
}
