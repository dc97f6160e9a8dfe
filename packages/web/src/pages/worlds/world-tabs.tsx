import { formatPoints, measureNames } from "@presage/contract/describe-runs";
import type { Comparison, ListedRun, Run, World } from "@presage/sdk";
import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { useMemo } from "react";
import { usePresage } from "../../data/client.ts";
import { comparisonQuery } from "../../data/comparisons.ts";
import { isThrough, worldRevisionsQuery } from "../../data/worlds.ts";
import { countedIn, formatCount } from "../../format/numbers.ts";
import { describeTarget } from "../../format/words.ts";
import { DatasetLink } from "../../parts/datasets.tsx";
import { HeadlineRate, RunStatus } from "../../parts/runs.tsx";
import { changesInWords } from "../../parts/worlds.ts";
import { Fold } from "../../ui/card.tsx";
import { configChanges, RevisionChanges } from "../../ui/config-changes.tsx";
import { Awaited } from "../../ui/notice.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";

/** The revision of the world that a run asked; 0 if the target is no world. */
export function revisionOf(target: Run["target"]): number {
  return "world" in target ? Number(target.world.split("@")[1]) : 0;
}

export function RunLink({ run: { id, name } }: { run: Pick<Run, "id" | "name"> }) {
  return (
    <Link to="/runs/$runId" params={{ runId: id }} className="text-accent-ink hover:underline">
      <InlineText text={name} />
    </Link>
  );
}

/** All revisions of a world, and what each changed. */
export function RevisionsTab({ world, runs }: { world: World; runs: readonly ListedRun[] | undefined }) {
  const { data, error, refetch } = useQuery(worldRevisionsQuery(usePresage(), world));
  if (data === undefined) {
    return <Awaited error={error} onRetry={refetch} count={3} className="h-8" />;
  }
  return (
    <ol>
      {data.map((revised, index) => {
        const before = data[index + 1];
        const changes = before === undefined ? ["The first revision"] : changesInWords(before, revised);
        const settings = before === undefined ? [] : configChanges(before.config, revised.config);
        const none = settings.length === 0 ? "Nothing changed" : "Nothing but how its settings are written";
        const run = runs?.find(({ target, headline }) => headline && revisionOf(target) === revised.revision);
        return (
          <li
            key={revised.revision}
            className="grid min-w-0 gap-x-6 gap-y-1 border-t border-line p-4 first:border-t-0 *:min-w-0 md:grid-cols-[minmax(0,1fr)_20rem] md:*:col-start-1"
          >
            <h3 className="flex items-baseline gap-2 text-sm font-semibold">
              Revision {revised.revision}
              <span className="text-xs font-normal text-ink-3">
                <Time at={revised.revised_at} />
                {revised.made_by && ` by ${revised.made_by}`}
              </span>
            </h3>
            <ul className="list-disc pl-5 text-sm text-ink-2">
              {(changes.length === 0 ? [none] : changes).map((text) => (
                <li key={text} className="wrap-anywhere">
                  <InlineText text={text} />
                </li>
              ))}
            </ul>
            <div className="text-sm md:col-start-2! md:row-span-3 md:row-start-1">
              {run === undefined ? (
                <span className="text-ink-3">{runs === undefined ? "…" : "Not measured"}</span>
              ) : (
                <>
                  <RunLink run={run} />
                  <HeadlineRate of={{ run }} />
                </>
              )}
            </div>
            {before !== undefined && settings.length > 0 && (
              <Fold title="Settings before and after" isDeferred>
                <RevisionChanges changes={settings} before={before.revision} after={revised.revision} />
              </Fold>
            )}
          </li>
        );
      })}
    </ol>
  );
}

/** Enough for a learning curve and the runs that it is compared with. */
const mostRuns = 14;
/** How many comparisons of revisions are requested: each is some work for the server. */
const mostChanges = 4;

interface QualityTabProps {
  world: World;
  /** Newest first. */
  runs: readonly ListedRun[];
}

/** The runs of the world, newest revision first, with what each changed, and the runs of simpler predictors. */
export function QualityTab({ world, runs }: QualityTabProps) {
  const presage = usePresage();
  const { shown, pairs } = useMemo(() => orderRuns(world.name, runs.slice(0, mostRuns)), [world.name, runs]);
  const compared = useQueries({
    queries: pairs.map(({ before, after }) => comparisonQuery(presage, [before.id, after.id])),
  });
  const changes = new Map(
    pairs.map((pair, index) => [pair.after.id, { ...pair, comparison: compared[index]?.data }]),
  );
  return (
    <>
      {!shown.some((run) => revisionIn(world.name, run) === world.revision) && (
        <p className="border-b border-line px-4 py-3 text-sm">Revision {world.revision} is not measured.</p>
      )}
      <Table label="Runs of the world" isStacked className="min-w-2xl">
        <thead className="border-b border-line">
          <tr>
            <HeaderCell>Run</HeaderCell>
            <HeaderCell>Target</HeaderCell>
            <HeaderCell>Dataset</HeaderCell>
            <HeaderCell className="w-80">Pass rate</HeaderCell>
            <HeaderCell short="Change">Change from the revision before</HeaderCell>
            <HeaderCell isNumber>Made</HeaderCell>
          </tr>
        </thead>
        <tbody>
          {shown.map((run) => (
            <tr key={run.id} className="border-b border-line last:border-b-0">
              <RowHeader>
                <span className="flex items-center gap-2">
                  <RunLink run={run} />
                  {run.status !== "finished" && <RunStatus status={run.status} />}
                </span>
              </RowHeader>
              <Cell className="whitespace-nowrap">
                {isThrough(world.name, run)
                  ? `revision ${revisionOf(run.target)}`
                  : describeTarget(run.target)}
              </Cell>
              <Cell>{run.dataset_id !== null && <DatasetLink id={run.dataset_id} />}</Cell>
              <Cell>
                <HeadlineRate of={{ run }} />
              </Cell>
              <Cell>
                <Change of={changes.get(run.id)} />
              </Cell>
              <Cell isNumber className="whitespace-nowrap">
                <Time at={run.created_at} />
              </Cell>
            </tr>
          ))}
        </tbody>
      </Table>
      {runs.length > mostRuns && (
        <p className="border-t border-line px-4 py-2 text-xs text-ink-3">
          The newest {mostRuns} of {formatCount(runs.length)} runs.{" "}
          <Link to="/runs" search={{ q: world.name }} className="text-accent-ink hover:underline">
            Runs that name the world
          </Link>
        </p>
      )}
    </>
  );
}

/** The revision of a world that a run asked; 0 for the runs that it is compared with. */
function revisionIn(name: string, run: ListedRun): number {
  return isThrough(name, run) ? revisionOf(run.target) : 0;
}

/** The runs by revision, and pairs that show what a later revision changed: on the same dataset, in the same mode. */
export function orderRuns(name: string, runs: readonly ListedRun[]) {
  const shown = runs.toSorted((one, other) => revisionIn(name, other) - revisionIn(name, one));
  const told = shown.filter((run) => run.status === "finished" && revisionIn(name, run) > 0);
  const pairs = told.flatMap((after, index) => {
    const revision = revisionIn(name, after);
    // The newest run represents its revision.
    if (told.findIndex((run) => revisionIn(name, run) === revision) !== index) return [];
    const before = told.find(
      (run) =>
        revisionIn(name, run) < revision && run.dataset_id === after.dataset_id && run.mode === after.mode,
    );
    return before === undefined ? [] : [{ before, after }];
  });
  return { shown, pairs: pairs.slice(0, mostChanges) };
}

const tones = { better: "text-pass", worse: "text-fail", undecided: "text-ink-2" };

interface ChangeProps {
  of: { before: ListedRun; after: ListedRun; comparison: Comparison | undefined } | undefined;
}

/** The difference from the previous revision, by the evaluator of the pass rate. */
function Change({ of }: ChangeProps) {
  if (of === undefined) return <span className="text-ink-3">–</span>;
  const { before, after, comparison } = of;
  const evaluators = comparison?.evaluators;
  const meant = evaluators?.find(({ evaluator }) => evaluator === after.headline?.evaluator);
  const [candidate] = (meant ?? evaluators?.[0])?.candidates ?? [];
  if (candidate === undefined) return comparison === undefined ? "…" : "no evaluator in common";
  const { difference, interval, outcome, measure, count, trajectories } = candidate;
  const bounds = interval && `${formatPoints(interval.lower)} to ${formatPoints(interval.upper)}`;
  return (
    <span className="flex flex-col tabular-nums">
      <span>
        <Link
          to="/compare"
          search={{ runs: `${before.id},${after.id}` }}
          className={clsx("hover:underline", tones[outcome])}
        >
          {outcome === "undecided" ? "no difference shown" : outcome}, {formatPoints(difference)} points
        </Link>{" "}
        of the {measureNames[measure]}
      </span>
      <span className="text-xs text-ink-3">
        {bounds ?? "no interval"}, {countedIn(count, trajectories)}, from revision {revisionOf(before.target)}
      </span>
    </span>
  );
}
