import { describeFailures, describeTrouble } from "@presage/contract/describe-runs";
import type { Run } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { FlaskRound } from "lucide-react";
import { type Headline, isActive, useRecentRuns } from "../../data/runs.ts";
import { counted, describeInterval, formatCount, formatShare } from "../../format/numbers.ts";
import { type Period, periodLabels } from "../../format/times.ts";
import { describeTarget, shortEvaluatorNames } from "../../format/words.ts";
import { NewRunLink, RunStatus } from "../../parts/runs.tsx";
import { Card } from "../../ui/card.tsx";
import { IntervalBar } from "../../ui/charts/interval-bar.tsx";
import { EmptyState, ErrorNotice } from "../../ui/notice.tsx";
import { Skeleton, SkeletonRows } from "../../ui/skeleton.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { Tooltip } from "../../ui/tooltip.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";

/** The newest runs of the period, with what they say. Its height is the same while it loads and afterwards. */
export function RunsCard({ period }: { period: Period }) {
  const { recent, headlines } = useRecentRuns(period);
  const { data, error, refetch } = recent;
  return (
    <Card
      title="Runs"
      hint="Pass rates with 95 % intervals, clustered by trajectory. The grey mark is the no-change baseline."
      className="flex h-106 flex-col"
      actions={
        <Link to="/runs" className="text-sm text-accent-ink underline-offset-2 hover:underline">
          {data === undefined || data.count <= data.runs.length
            ? "All runs"
            : `All ${formatCount(data.count)}${data.hasMore ? " and more" : ""}`}
        </Link>
      }
    >
      <div className="min-h-0 flex-1 overflow-y-auto">
        {data === undefined ? (
          error === null ? (
            <SkeletonRows count={5} className="h-9" />
          ) : (
            <div className="p-4">
              <ErrorNotice error={error} onRetry={refetch} />
            </div>
          )
        ) : data.runs.length === 0 ? (
          <EmptyState
            icon={FlaskRound}
            title={`No runs in the last ${periodLabels[period]}`}
            actions={<NewRunLink size="small">New run</NewRunLink>}
          >
            A run predicts every step of a dataset and says how far the model can be trusted.
          </EmptyState>
        ) : (
          <Table label="Runs" className="table-fixed">
            <colgroup>
              <col className="hidden w-44 lg:table-column xl:w-64" />
              <col />
              <col className="hidden w-24 lg:table-column xl:w-28" />
              <col className="hidden w-28 lg:table-column xl:w-32" />
            </colgroup>
            <thead>
              <tr className="border-b border-line">
                <HeaderCell className={onlyWide}>Run</HeaderCell>
                <HeaderCell>Pass rate by evaluator</HeaderCell>
                <HeaderCell isNumber className={onlyWide}>
                  Samples
                </HeaderCell>
                <HeaderCell isNumber className={onlyWide}>
                  Started
                </HeaderCell>
              </tr>
            </thead>
            <tbody>
              {data.runs.map((run, index) => (
                <RunRow
                  key={run.id}
                  run={run}
                  headlines={headlines[index]?.data}
                  hasFailed={headlines[index]?.isError === true}
                />
              ))}
            </tbody>
          </Table>
        )}
      </div>
    </Card>
  );
}

const onlyWide = "hidden lg:table-cell";

function RunRow({
  run,
  headlines,
  hasFailed,
}: {
  run: Run;
  headlines: Headline[] | undefined;
  hasFailed: boolean;
}) {
  const { progress } = run;
  return (
    <tr className="border-b border-line align-top last:border-0 hover:bg-hover">
      <RowHeader className={onlyWide}>
        <RunName run={run} />
      </RowHeader>
      <Cell className="max-lg:pl-4">
        {/* On a narrow screen there is no room for it beside the figures. */}
        <div className="mb-1 lg:hidden">
          <RunName run={run} />
        </div>
        <RunFigures run={run} headlines={headlines} hasFailed={hasFailed} />
      </Cell>
      <Cell isNumber className={clsx("align-top", onlyWide)}>
        {isActive(run)
          ? `${formatCount(progress.evaluated)} of ${formatCount(progress.samples)}`
          : formatCount(progress.samples)}
        {describeFailures(progress).map((text) => (
          <span key={text} className="block text-xs whitespace-normal text-warn">
            {text}
          </span>
        ))}
      </Cell>
      <Cell isNumber className={clsx("align-top text-ink-3", onlyWide)}>
        <Time at={run.started_at ?? run.created_at} />
      </Cell>
    </tr>
  );
}

function RunName({ run: { id, name, status, target, mode, evaluators, progress } }: { run: Run }) {
  const hidden = evaluators.length - maxShown;
  return (
    <>
      <span className="flex items-center gap-2">
        <Link
          to="/runs/$runId"
          params={{ runId: id }}
          className="truncate font-medium text-accent-ink hover:underline"
        >
          <InlineText text={name} />
        </Link>
        {status !== "finished" && <RunStatus status={status} />}
      </span>
      <span className="block truncate text-xs text-ink-3">
        <InlineText text={describeTarget(target)} /> · {mode}
      </span>
      {describeTrouble(progress).map((text) => (
        <span key={text} className="block text-xs whitespace-normal text-warn">
          {text}
        </span>
      ))}
      {hidden > 0 && (
        <span className="block truncate text-xs text-ink-3">
          {formatCount(hidden)} more {hidden === 1 ? "evaluator" : "evaluators"}
        </span>
      )}
    </>
  );
}

const maxShown = 3;

interface RunFiguresProps {
  run: Run;
  /** Undefined while loading. */
  headlines: Headline[] | undefined;
  hasFailed: boolean;
}

/** One line for each of a run's first evaluators: their number is known before the figures are. */
function RunFigures({ run, headlines, hasFailed }: RunFiguresProps) {
  const expected = Math.max(1, Math.min(maxShown, run.evaluators.length));
  const nameOf = shortEvaluatorNames(run.evaluators.map(({ evaluator }) => evaluator));
  return (
    <ul className="flex flex-col gap-0.5">
      {Array.from({ length: expected }, (_, index) => {
        const figures = headlines?.[index];
        const evaluator = figures?.evaluator ?? run.evaluators[index]?.evaluator ?? "";
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a run's evaluators keep their order
          <li key={index} className="flex h-5 items-center gap-3 text-sm">
            <span className="w-28 shrink-0 truncate text-ink-2 sm:w-36">{nameOf(evaluator)}</span>
            {figures !== undefined ? (
              <Figure figures={figures} />
            ) : headlines === undefined && !hasFailed ? (
              <Skeleton className="h-3 w-56" />
            ) : (
              <span className="text-ink-3">{hasFailed ? "could not be read" : "–"}</span>
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** Figure, interval and baseline; on hover and focus, what they are. */
function Figure({ figures }: { figures: Headline }) {
  const { pass_rate, pass_interval, no_change } = figures;
  if (pass_rate === null) return <span className="text-ink-3">no verdicts yet</span>;
  const baseline = no_change === null ? undefined : no_change.pass_rate;
  return (
    <Tooltip text={explain(figures)}>
      <span tabIndex={0} className="flex min-w-0 flex-1 items-center gap-3 rounded-sm">
        <span className="w-14 shrink-0 text-right font-medium tabular-nums">{formatShare(pass_rate)}</span>
        <span aria-hidden className="min-w-20 flex-1">
          <IntervalBar
            value={pass_rate}
            lower={pass_interval?.lower ?? pass_rate}
            upper={pass_interval?.upper ?? pass_rate}
            baseline={baseline}
          />
        </span>
        <span className="w-32 shrink-0 truncate hidden text-xs text-ink-3 sm:block lg:hidden xl:block tabular-nums">
          {baseline === undefined ? "" : `no change ${formatShare(baseline)}`}
        </span>
      </span>
    </Tooltip>
  );
}

function explain({ pass_interval, count, trajectories, failed, no_change, profile_name }: Headline): string {
  const of = `Share of ${counted(count, "sample")} in ${counted(trajectories, "trajectory", "trajectories")} that pass${profile_name === null ? "" : ` by ${profile_name}`}.`;
  const interval =
    pass_interval === null
      ? "No interval: all are in one trajectory."
      : `95 % interval ${describeInterval(pass_interval)}, Wilson’s with the standard error clustered by trajectory.`;
  const failures =
    failed === 0
      ? ""
      : ` ${counted(failed, "prediction")} failed and ${failed === 1 ? "is" : "are"} not counted.`;
  const baseline =
    no_change === null
      ? ""
      : ` Predicting no change passes in ${formatShare(no_change.pass_rate)} of ${formatCount(no_change.count)}.`;
  return `${of} ${interval}${failures}${baseline}`;
}
