import { describeDraw, describeFailures, describeTrouble } from "@presage/contract/describe-runs";
import type { ListedRun, Run } from "@presage/sdk";
import { clsx } from "clsx";
import { type Headline, isActive } from "../../../data/runs.ts";
import { describeInterval, formatCost, formatCount, formatShare } from "../../../format/numbers.ts";
import { describeTarget, shortEvaluatorName } from "../../../format/words.ts";
import { GoalState, isTroubled, ProgressBar, RunStatus } from "../../../parts/runs.tsx";
import { IntervalBar } from "../../../ui/charts/sparkline.tsx";
import type { DataColumn } from "../../../ui/data-table/columns.ts";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { Explained } from "../../../ui/tooltip.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { describeBasis, explainFigures } from "../report/describe-figures.ts";

export interface RunRow {
  run: ListedRun;
  dataset: string;
  /** Who started the run, if the user may know that. */
  by: string | undefined;
  /** The figures of the run's main evaluator. `loading`: not loaded yet; `unread`: only the run's page loads them; null: none. */
  headline: Headline | "loading" | "unread" | null;
}

const rateOf = ({ headline }: RunRow) =>
  headline === null || typeof headline === "string" ? undefined : headline;

/** The columns of the list. An evaluator that all rows share is in the heading. Without goals, the goals' column is hidden. */
export function runColumns(evaluator: string | undefined, hasGoals: boolean): DataColumn<RunRow>[] {
  const all = [...columns.slice(0, place), passRateColumn(evaluator), ...columns.slice(place)];
  return hasGoals ? all : all.map((column) => (column.id === "goal" ? { ...column, isExtra: true } : column));
}

/** The index of the pass rate, after the columns about the run and what it measures. */
const place = 5;

function passRateColumn(evaluator: string | undefined): DataColumn<RunRow> {
  return {
    id: "pass_rate",
    label: evaluator === undefined ? "Pass rate" : `Pass rate, ${evaluator}`,
    hint: "By the goal’s evaluator, else the first with verdicts; interval at 95\u00a0%, clustered by trajectory. The mark is the best baseline.",
    value: (row) => rateOf(row)?.pass_rate,
    cell: (row) => <PassRate row={row} isNamed={evaluator === undefined} />,
    isNumber: true,
    widthPx: 164,
  };
}

/** The evaluator of all rows with figures, if it is the same in all. */
export function commonEvaluator(rows: readonly RunRow[]): string | undefined {
  const names = new Set(rows.flatMap((row) => rateOf(row) ?? []).map((one) => shortEvaluatorName(one)));
  return names.size === 1 ? [...names][0] : undefined;
}

const columns: DataColumn<RunRow>[] = [
  {
    id: "name",
    label: "Run",
    value: ({ run }) => run.name,
    cell: ({ run }) => (
      <>
        <span className="line-clamp-2 wrap-anywhere whitespace-normal">
          <span className="font-medium text-ink" title={run.name}>
            <InlineText text={run.name} />
          </span>
          {run.provenance.draw && (
            <span className="ml-1.5 text-xs text-ink-3" title={describeDraw(run.provenance.draw)}>
              pilot
            </span>
          )}
        </span>
        {isActive(run) ? (
          <span className="block max-w-60" title={run.status_reason ?? undefined}>
            <span className="flex justify-between gap-2 text-xs text-ink-2 tabular-nums">
              {run.status}
              <span className="text-ink-3">
                {formatCount(run.progress.evaluated)} / {formatCount(run.progress.samples)}
              </span>
            </span>
            <ProgressBar progress={run.progress} />
          </span>
        ) : (
          run.status !== "finished" && (
            <span className="ml-2">
              <RunStatus status={run.status} />
            </span>
          )
        )}
        {!isActive(run) && run.progress.failed > 0 && (
          <span className="block text-xs text-warn">{describeFailures(run.progress).join(", ")}</span>
        )}
        {isTroubled(run.progress) && <Trouble run={run} />}
      </>
    ),
    widthPx: 200,
    isElastic: true,
    isFixed: true,
  },
  {
    id: "status",
    label: "Status",
    value: ({ run }) => run.status,
    widthPx: 96,
    isExtra: true,
  },
  {
    id: "target",
    label: "Target",
    hint: "What predicts, and whether it is free-running",
    value: ({ run }) => describeTarget(run.target),
    cell: ({ run }) => (
      <>
        <InlineText text={describeTarget(run.target)} />
        {run.mode === "free-running" && <span className="text-ink-3"> free-running</span>}
      </>
    ),
    widthPx: 184,
    isPlain: true,
  },
  {
    id: "mode",
    label: "Mode",
    hint: "Teacher-forced: each step starts from the recorded state; free-running: from the prediction before",
    value: ({ run }) => run.mode,
    widthPx: 125,
    isExtra: true,
  },
  {
    id: "dataset",
    label: "Dataset",
    value: ({ dataset }) => dataset,
    widthPx: 105,
    isExtra: true,
  },
  {
    id: "goal",
    label: "Goal",
    hint: "The pass rate to reach: met if the whole interval reaches it, missed if all of it is below.",
    value: ({ run }) => run.goal?.pass_rate,
    cell: ({ run: { goal } }) =>
      goal === null ? <span className="text-ink-3">–</span> : <GoalState goal={goal} />,
    widthPx: 156,
    isPlain: true,
  },
  {
    id: "baseline",
    label: "Best baseline",
    hint: "The highest pass rate of a baseline on the same revision, by the same evaluator.",
    value: (row) => rateOf(row)?.baseline?.pass_rate,
    cell: (row) => <Baseline of={rateOf(row)?.baseline} />,
    isNumber: true,
    widthPx: 128,
    isExtra: true,
  },
  {
    id: "samples",
    label: "Predictions",
    hint: "Samples times repeats.",
    value: ({ run }) => run.progress.samples,
    isNumber: true,
    widthPx: 92,
  },
  {
    id: "cost",
    label: "Cost",
    hint: "The cost of the predictions, at today’s prices; hover to see what 1,000 of them cost.",
    value: ({ run }) => run.headline?.cost?.total,
    cell: ({ run: { headline } }) => {
      const { total = null, per_1000 = null, currency = "" } = headline?.cost ?? {};
      const exact = formatCost(total, currency);
      const title = per_1000 === null ? exact : `${exact}, ${formatCost(per_1000, currency)} per 1,000`;
      const isTiny = total !== null && total > 0 && total < 0.01;
      return <span title={title}>{isTiny ? `< ${formatCost(0.01, currency)}` : exact}</span>;
    },
    isNumber: true,
    widthPx: 84,
  },
  {
    id: "by",
    label: "By",
    hint: "Who started it. Owners see everyone’s name, others their own.",
    value: ({ by }) => by,
    widthPx: 104,
  },
  {
    id: "failed",
    label: "Failed",
    hint: "Predictions that failed or lack a verdict.",
    value: ({ run }) => run.progress.failed,
    isNumber: true,
    widthPx: 72,
    isExtra: true,
  },
  {
    id: "started",
    label: "Started",
    value: ({ run }) => run.started_at ?? run.created_at,
    isNewestFirst: true,
    widthPx: 126,
    isPlain: true,
  },
];

function Baseline({ of }: { of: Headline["baseline"] | undefined }) {
  if (!of) return <span className="text-ink-3">–</span>;
  return (
    <>
      {formatShare(of.pass_rate)} <span className="text-xs text-ink-3">{of.kind.replace("-", " ")}</span>
    </>
  );
}

function Trouble({ run }: { run: Run }) {
  const text = describeTrouble(run.progress).join("; ");
  const { truncated, empty } = run.progress.answers ?? { truncated: 0, empty: 0 };
  // Retried calls do have answers.
  const isOfAnswers = truncated + empty > 0;
  return (
    <span className={clsx("block truncate text-xs", isOfAnswers ? "text-warn" : "text-ink-3")} title={text}>
      {text}
    </span>
  );
}

function PassRate({ row: { run, headline }, isNamed }: { row: RunRow; isNamed: boolean }) {
  if (headline === "loading") return <Skeleton className="ml-auto h-3 w-40" />;
  if (headline === "unread")
    return (
      <span className="text-ink-3" title="The run’s page has it.">
        –
      </span>
    );
  if (headline === null || headline.pass_rate === null)
    return <span className="text-ink-3">{isActive(run) ? "when it ends" : "no verdicts"}</span>;
  const { pass_rate, pass_interval, baseline } = headline;
  const name = shortEvaluatorName(headline);
  return (
    <Explained
      className="block"
      text={`${name}. ${explainFigures(headline, "pass_rate")} ${describeBasis(headline)}.${baseline === null ? "" : ` Best baseline: ${baseline.kind.replace("-", " ")}, ${formatShare(baseline.pass_rate)}.`}`}
    >
      <span className="flex items-center gap-2">
        <span aria-hidden className="min-w-0 flex-1">
          <IntervalBar
            value={pass_rate}
            lower={pass_interval?.lower ?? pass_rate}
            upper={pass_interval?.upper ?? pass_rate}
            baseline={baseline?.pass_rate}
          />
        </span>
        <span className="w-14 shrink-0 text-right font-medium text-ink">{formatShare(pass_rate)}</span>
      </span>
      <span className="flex justify-between gap-2 text-xs text-ink-3">
        <span className="truncate">{isNamed && name}</span>
        <span className="shrink-0">
          {pass_interval === null ? "no interval" : describeInterval(pass_interval)}
        </span>
      </span>
    </Explained>
  );
}
