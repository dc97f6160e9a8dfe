import { describeTrouble, formatPoints, measureNames } from "@presage/contract/describe-runs";
import type { Headline } from "@presage/sdk";
import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { ArrowDown, ArrowRight, ArrowUp, FlaskRound } from "lucide-react";
import { useRefusal } from "../../data/accounts.ts";
import { usePresage } from "../../data/client.ts";
import { alarmIn, checkAboveLimit, checkedEnvironmentsQuery, realityQuery } from "../../data/reality.ts";
import { headlinesQuery } from "../../data/runs.ts";
import { formatCost, formatCount, unbroken } from "../../format/numbers.ts";
import { describeTarget } from "../../format/words.ts";
import { HeadlineRate, isTroubled, judgeRun, NewRunLink, RunVerdict } from "../../parts/runs.tsx";
import type { Tone } from "../../ui/badge.tsx";
import { Card } from "../../ui/card.tsx";
import { Awaited, EmptyState } from "../../ui/notice.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";

/** Whether each deployment or world is good enough for training, according to its newest runs. */
export function HeadlinesCard() {
  const { data, error, refetch } = useQuery(headlinesQuery(usePresage()));
  return (
    <Card
      className="@container"
      title="Can I train in it?"
      hint="The latest run of each target with its 95&nbsp;% interval; of those measured alike, the best first. The grey mark is the best baseline."
      actions={
        <Link to="/runs" className="text-sm text-accent-ink underline-offset-2 hover:underline">
          All runs
        </Link>
      }
    >
      {data === undefined ? (
        <Awaited error={error} onRetry={refetch} count={5} className="h-12" />
      ) : data.length === 0 ? (
        <EmptyState
          icon={FlaskRound}
          title="No finished run over all samples yet"
          actions={<NewRunLink size="small">New run</NewRunLink>}
        >
          A run predicts every step of a dataset and says how far the model can be trusted. Pilots, baselines
          and external runs are not listed here.
        </EmptyState>
      ) : (
        <Table label="Latest runs">
          <thead>
            <tr className="border-b border-line phone:hidden">
              <HeaderCell>Target</HeaderCell>
              <HeaderCell className={onlyWide}>Verdict</HeaderCell>
              <HeaderCell className="w-1/3">Pass rate</HeaderCell>
              <HeaderCell className={onlyWide}>Change</HeaderCell>
              <HeaderCell className={onlyWide}>Failed</HeaderCell>
              <HeaderCell isNumber className={onlyWide}>
                Cost per 1,000
              </HeaderCell>
            </tr>
          </thead>
          {groupsOf(data).map((rows) => (
            <Group key={rows[0]?.run.dataset_id} rows={rows} />
          ))}
        </Table>
      )}
      <Reality />
    </Card>
  );
}

/** Groups by dataset, the one with the newest run first. Within a group, rows measured alike are together, the best first. */
export function groupsOf(rows: readonly Headline[]): Headline[][] {
  const rateOf = ({ run }: Headline) => run.headline?.pass_rate ?? -1;
  const measureOf = ({ run: { headline, mode, revision } }: Headline) =>
    JSON.stringify([headline?.evaluator, headline?.profile_id, headline?.profile_revision, revision, mode]);
  const groups = [...Map.groupBy(rows, ({ run }) => run.dataset_id).values()];
  return groups.map((group) =>
    [...Map.groupBy(group, measureOf).values()].flatMap((alike) =>
      alike.toSorted((a, b) => rateOf(b) - rateOf(a)),
    ),
  );
}

/** The greatest number of runs in a comparison. */
const maxCompared = 5;

function Group({ rows }: { rows: readonly Headline[] }) {
  const [first] = rows;
  // Only runs in one mode, on one revision, can be compared: takes the largest such set.
  const alike = Object.values(Object.groupBy(rows, ({ run }) => `${run.mode} ${run.revision}`));
  const [most = []] = alike.map((of = []) => of).sort((one, other) => other.length - one.length);
  const comparable = most.slice(0, maxCompared);
  const isOneRevision = rows.every(({ run }) => run.revision === first?.run.revision);
  return (
    <tbody className="border-b border-line last:border-0">
      <tr className="bg-sunken text-xs text-ink-2">
        <th colSpan={6} scope="rowgroup" className="px-4 py-1.5 text-left font-medium">
          <span className="flex flex-wrap justify-between gap-x-4">
            <span className="wrap-anywhere">
              <InlineText text={first?.dataset_name ?? "deleted dataset"} />
              {isOneRevision && `, revision ${first?.run.revision}`}
            </span>
            {comparable.length > 1 && (
              <Link
                to="/compare"
                search={{ runs: comparable.map(({ run }) => run.id).join(",") }}
                className={link}
              >
                Which is better? Compare {comparable.length}
              </Link>
            )}
          </span>
        </th>
      </tr>
      {rows.map((row) => (
        <Row key={row.run.id} row={row} hasOwnRevision={!isOneRevision} />
      ))}
    </tbody>
  );
}

const link = "text-accent-ink underline underline-offset-2";

/** Whether success in environments was real, where this was checked. */
function Reality() {
  const presage = usePresage();
  const { data: names = [] } = useQuery(checkedEnvironmentsQuery(presage));
  const figures = useQueries({ queries: names.map((name) => realityQuery(presage, name)) });
  const shown = names.flatMap((name, index) => {
    const { data, isError } = figures[index] ?? {};
    // Environments that need attention are listed above.
    return data && (data.agreement.count === 0 || alarmIn(data.state) || checkAboveLimit(data))
      ? []
      : { name, what: data?.sentence ?? (isError ? "could not be read." : "…") };
  });
  if (shown.length === 0) return null;
  return (
    <ul aria-label="Checked against reality" className="divide-y divide-line border-t border-line">
      {shown.map(({ name, what }) => (
        <li key={name} className="px-4 py-2 text-sm text-pretty text-ink-2">
          <Link
            to="/environments/$name"
            params={{ name }}
            search={{ tab: "reality" }}
            className="font-medium wrap-anywhere text-accent-ink hover:underline"
          >
            Environment {name}
          </Link>{" "}
          {unbroken(what)}
        </li>
      ))}
    </ul>
  );
}

/** On narrow screens, these cells are shown below the name. */
const onlyWide = "hidden @min-[58rem]:table-cell";

function Row({ row, hasOwnRevision }: { row: Headline; hasOwnRevision: boolean }) {
  const { run } = row;
  const { id, target, mode, revision, finished_at, created_at } = run;
  const cost = run.headline?.cost ?? null;
  const details = (
    <>
      <Verdict run={run} />
      {row.change !== null && <Change row={row} />}
      {(run.progress.failed > 0 || isTroubled(run.progress)) && <Failed run={run} />}
      {cost !== null && cost.per_1000 !== null && (
        <span className="whitespace-nowrap text-ink-2">
          <Cost cost={cost} /> per 1,000
        </span>
      )}
    </>
  );
  return (
    <tr
      className={clsx(
        "border-b border-l-3 border-line align-top last:border-b-0 hover:bg-hover phone:flex phone:flex-col",
        edges[judgeRun(run).tone] ?? "border-l-transparent",
      )}
    >
      <RowHeader className="min-w-40 phone:px-4 phone:pb-0">
        <Link
          to="/runs/$runId"
          params={{ runId: id }}
          title={run.name}
          className="font-medium wrap-anywhere text-accent-ink hover:underline"
        >
          <InlineText text={"predictions" in target ? run.name : describeTarget(target)} />
          {mode === "free-running" && (
            <>
              , <span className="whitespace-nowrap">free-running</span>
            </>
          )}
        </Link>
        <span className="block text-xs wrap-anywhere text-ink-3">
          {hasOwnRevision && `Revision ${revision} · `}
          <Time at={finished_at ?? created_at} />
        </span>
        <span className="mt-1 flex flex-wrap items-start gap-x-3 gap-y-1 text-xs phone:hidden @min-[58rem]:hidden">
          {details}
        </span>
      </RowHeader>
      <Cell className={clsx("align-top", onlyWide)}>
        <Verdict run={run} />
      </Cell>
      <Cell className="align-top phone:px-4 phone:pt-1 @min-[58rem]:min-w-74">
        <HeadlineRate of={row} />
        <span className="mt-1 hidden flex-wrap items-start gap-x-3 gap-y-1 text-xs phone:flex">
          {details}
        </span>
      </Cell>
      <Cell className={clsx("align-top", onlyWide)}>
        <Change row={row} />
      </Cell>
      <Cell className={clsx("align-top", onlyWide)}>
        <Failed run={run} />
      </Cell>
      <Cell isNumber className={clsx("align-top", onlyWide)}>
        <Cost cost={cost} />
      </Cell>
    </tr>
  );
}

const nothing = <span className="text-ink-3">–</span>;

/** The verdict of a run. A goal may belong to earlier runs of the target; then their name is shown. */
function Verdict({ run }: Pick<Headline, "run">) {
  const { id, name, goal, target } = run;
  const canSetGoal = useRefusal("evaluate") === undefined;
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-0.5 text-xs">
      <RunVerdict run={run} />
      {goal === null && !("baseline" in target) && canSetGoal && (
        <Link to="/runs/$runId" params={{ runId: id }} className={link}>
          Set a goal
        </Link>
      )}
      {goal !== null && goal.run_name !== name && (
        <span className="wrap-anywhere text-ink-3">
          set for runs named <InlineText text={goal.run_name} />
        </span>
      )}
    </span>
  );
}

const edges: { [tone in Tone]?: string } = {
  pass: "border-l-pass",
  fail: "border-l-fail",
  warn: "border-l-warn",
};

const arrows = { better: ArrowUp, worse: ArrowDown, undecided: ArrowRight };

function Change({ row: { run, change } }: { row: Headline }) {
  if (change === null) return nothing;
  const { run_id, name, difference, interval, measure, outcome } = change;
  const Icon = arrows[outcome];
  const isSame = difference === 0 && interval === null;
  return (
    <span
      className={clsx(
        "flex items-start gap-1 text-xs tabular-nums",
        outcome === "better" && "text-pass",
        outcome === "worse" && "text-fail",
        outcome === "undecided" && "text-ink-2",
      )}
    >
      <Icon className="mt-0.5 size-3 shrink-0" aria-hidden />
      <span>
        <Link
          to="/compare"
          search={{ runs: `${run_id},${run.id}` }}
          title={`Points of the ${measureNames[measure]}. Compare with ${name}`}
          className={clsx(link, "whitespace-nowrap")}
        >
          {isSame ? "±0.0 points" : `${formatPoints(difference)} points`}
        </Link>
        {interval === null
          ? !isSame && ", no interval"
          : ` (${formatPoints(interval.lower)} to ${formatPoints(interval.upper)})`}
        <span className="sr-only">, {outcome}</span>
      </span>
    </span>
  );
}

function Failed({ run }: Pick<Headline, "run">) {
  const { progress } = run;
  const { failed_predictions: failed, without_verdict: unjudged, samples } = progress;
  const hasTrouble = isTroubled(progress);
  const trouble = [
    ...(unjudged > 0 ? [`${formatCount(unjudged)} without a verdict`] : []),
    ...describeTrouble(progress),
  ];
  return (
    <span className={clsx("text-xs", hasTrouble ? "text-warn" : "text-ink-3")} title={trouble.join(", ")}>
      <span className="whitespace-nowrap">
        <span className="@min-[58rem]:hidden">Failed </span>
        {formatCount(failed)} of {formatCount(samples)}
      </span>
      {hasTrouble &&
        trouble.map((text) => (
          <span key={text} className="block whitespace-nowrap">
            {text.replace(/ \(.*\)$/, "").replace(/ calls? tried again$/, " retried")}
          </span>
        ))}
    </span>
  );
}

function Cost({ cost }: { cost: NonNullable<Headline["run"]["headline"]>["cost"] }) {
  return cost === null || cost.per_1000 === null ? (
    <span className="text-ink-3">{cost === null ? "–" : "no price"}</span>
  ) : (
    formatCost(cost.per_1000, cost.currency)
  );
}
