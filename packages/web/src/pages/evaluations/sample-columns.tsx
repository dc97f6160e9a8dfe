import { defaultProfileName } from "@presage/contract/defaults";
import type { EvaluationSummaryGroup } from "@presage/sdk";
import type { ResultRow, ScoreOrder } from "../../data/results.ts";
import { plainName, withoutVersion } from "../../format/words.ts";
import { RunLink, RunName } from "../../parts/runs.tsx";
import type { DataColumn } from "../../ui/data-table/columns.ts";
import type { Sort } from "../../ui/data-table/table-view.ts";
import { Explained } from "../../ui/tooltip.tsx";
import { Beginning, SampleName } from "../../ui/untrusted-text/inline-text.tsx";
import { VerdictMark, verdictColumnWidthPx } from "../../ui/verdict.tsx";

/** All results about one sample, from one run. */
export interface SampleRow {
  /** The id of the row's first result. */
  id: string;
  sampleId: string;
  datasetId: string | null;
  runId: string | null;
  results: readonly ResultRow[];
}

/** Groups results into one row per sample, dataset and run, in the order of the first occurrence. */
export function groupBySample(results: readonly ResultRow[]): SampleRow[] {
  const rows = new Map<string, SampleRow & { results: ResultRow[] }>();
  for (const result of results) {
    const { dataset_sample_id, dataset_id: datasetId, evaluation_run_id: runId } = result;
    const sampleId = String(dataset_sample_id);
    const key = JSON.stringify([sampleId, datasetId, runId]);
    const row = rows.get(key);
    if (row === undefined) rows.set(key, { id: result.id, sampleId, datasetId, runId, results: [result] });
    else row.results.push(result);
  }
  return [...rows.values()].map((row) => ({ ...row, results: oldestFirst(row.results) }));
}

/** Each result once, oldest first. Ids ascend with time. */
function oldestFirst(results: readonly ResultRow[]): ResultRow[] {
  const each = new Map(results.map((result) => [result.id, result]));
  return [...each.values()].sort((one, other) => Number(one.id) - Number(other.id));
}

/** An evaluator with a profile, whose verdicts form a column. */
export interface Judge {
  evaluator: string;
  profile: string | null;
}

interface CountedJudge extends Judge {
  /** The number of results that match the filter. */
  count: number;
}

/** The results of one judge about a sample, latest first: the latest counts. */
export function resultsOf({ results }: SampleRow, { evaluator, profile }: Judge): ResultRow[] {
  return results
    .filter(({ evaluator_id, profile_name }) => evaluator_id === evaluator && profile_name === profile)
    .toReversed();
}

const mostJudges = 12;
/** There is always room for this number of judges. */
const alwaysShown = 4;
/** The least share of the results that the most common judge has. With fewer, a column would be almost empty. */
const leastShare = 0.1;

/** The evaluators that become columns, those with the most results first. All revisions of a profile share a column. */
export function judgesOf(groups: readonly Pick<EvaluationSummaryGroup, "key" | "count">[]): CountedJudge[] {
  const judges = new Map<string, CountedJudge>();
  for (const { key, count } of groups) {
    const judge = { evaluator: key.evaluator_id ?? "", profile: key.profile_name || null };
    const id = JSON.stringify(judge);
    judges.set(id, { ...judge, count: (judges.get(id)?.count ?? 0) + count });
  }
  return [...judges.values()].sort((one, other) => other.count - one.count).slice(0, mostJudges);
}

/** Whether an evaluator has a column by default. Depends only on the filter, so that sorting never removes a column. */
function isCommon(judge: CountedJudge, judges: readonly CountedJudge[]): boolean {
  const place = judges.indexOf(judge);
  return place < alwaysShown || judge.count >= (judges[0]?.count ?? 0) * leastShare;
}

/** One column per evaluator, between the columns about the sample and the prediction. Evaluators in `sorted` always have one. */
export function sampleColumns(
  judges: readonly CountedJudge[],
  sorted: ReadonlySet<string>,
  isGrouped = false,
): DataColumn<SampleRow>[] {
  return [
    {
      id: "sample",
      label: isGrouped ? "Sample and run" : "Sample",
      hint: "In the order of the samples’ IDs, numbers by value. Results without a sample are left out.",
      value: ({ sampleId }) => sampleId,
      cell: ({ sampleId, runId }) => {
        if (!isGrouped) return <SampleName id={sampleId} />;
        return runId === null ? (
          "No run"
        ) : (
          <span className="line-clamp-2 wrap-anywhere whitespace-normal">
            <RunName id={runId} />
          </span>
        );
      },
      isSortable: false,
      isFixed: true,
      widthPx: isGrouped ? 200 : 140,
    },
    ...judges.map(
      (judge): DataColumn<SampleRow> => ({
        id: judgeColumnId(judge),
        label: nameOf(judge, judges),
        hint: `The last verdict and score by ${judge.evaluator}${judge.profile === null ? "" : `, ${plainName(judge.profile)}`}. A person’s correction counts. Sorted, samples without its score are left out.`,
        value: (row) => scoreOf(row, judge),
        cell: (row) => <LastVerdict row={row} judge={judge} />,
        isNumber: true,
        isSortable: true,
        isExtra: !isCommon(judge, judges) && !sorted.has(judgeColumnId(judge)),
        widthPx: verdictColumnWidthPx(nameOf(judge, judges)),
      }),
    ),
    {
      id: "output",
      label: "Output",
      value: ({ results }) => results[0]?.excerpt,
      cell: ({ results }) => <Beginning text={results[0]?.excerpt} beside={goldOf(results)} />,
      isSortable: false,
      isElastic: true,
      widthPx: 140,
    },
    {
      id: "gold",
      label: "Gold",
      hint: "What the output was compared with.",
      value: ({ results }) => goldOf(results),
      cell: ({ results }) => <Beginning text={goldOf(results)} beside={results[0]?.excerpt} />,
      isSortable: false,
      isElastic: true,
      widthPx: 140,
    },
    {
      id: "run",
      label: "Run",
      value: ({ runId }) => runId,
      cell: ({ runId }) => (runId === null ? "–" : <RunLink id={runId} />),
      isSortable: false,
      widthPx: 112,
    },
  ];
}

function goldOf(results: readonly ResultRow[]): string | null {
  return results.find(({ gold }) => gold !== null)?.gold ?? null;
}

/** A hash (32-bit FNV-1a) of the judge's name: the same under all filters, so that chosen columns stay with their evaluator. */
export function judgeColumnId({ evaluator, profile }: Judge): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(JSON.stringify([evaluator, profile]))) {
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  return `e-${(hash >>> 0).toString(36)}`;
}

/** The columns to show. If `chosen` has no column of these judges, it was chosen for others: the default ones are added. */
export function withEvaluators(
  chosen: readonly string[],
  columns: readonly DataColumn<SampleRow>[],
  judges: readonly Judge[],
): string[] {
  const judgeIds = new Set(judges.map(judgeColumnId));
  if (chosen.some((id) => judgeIds.has(id))) return [...chosen];
  const shown = columns.filter(({ id, isExtra = false }) => judgeIds.has(id) && !isExtra);
  return [...chosen, ...shown.map(({ id }) => id)];
}

function scoreOf(row: SampleRow, judge: Judge): number | null | undefined {
  const [last] = resultsOf(row, judge);
  return last?.corrected?.score ?? last?.score_raw;
}

function LastVerdict({ row, judge }: { row: SampleRow; judge: Judge }) {
  const results = resultsOf(row, judge);
  const [last] = results;
  if (last === undefined) return <span className="text-ink-3">–</span>;
  return (
    <span className="inline-flex items-center gap-1 align-middle">
      {results.length > 1 && (
        <Explained className="text-xs text-ink-3" text={`${results.length} results; the last one is shown`}>
          ×{results.length}
        </Explained>
      )}
      <VerdictMark
        status={last.status}
        pass={last.corrected?.pass ?? last.pass}
        score={last.corrected?.score ?? last.score_raw}
      />
    </span>
  );
}

/** The family, with the profile or version if others have the same family. */
export function nameOf({ evaluator, profile }: Judge, judges: readonly Judge[]): string {
  const family = withoutVersion(evaluator);
  const alike = judges.filter((other) => withoutVersion(other.evaluator) === family);
  const isSameId = alike.every((other) => other.evaluator === evaluator);
  const isPlain =
    profile === null || (profile === defaultProfileName && !alike.some(({ profile }) => profile === null));
  return [isSameId ? family : evaluator, !isPlain && plainName(profile)].filter(Boolean).join(" ");
}

const separator = "~";

/** Reads the order in the address: `-evaluator~profile`, where the minus means highest score first. */
export function readSampleSort(text: string | undefined): ScoreOrder | undefined {
  if (text === undefined) return undefined;
  const isDescending = text.startsWith("-");
  const name = isDescending ? text.slice(1) : text;
  const end = name.indexOf(separator);
  const evaluator = end === -1 ? name : name.slice(0, end);
  const profile = end === -1 ? null : name.slice(end + 1);
  return evaluator === "" ? undefined : { evaluator, profile: profile === "" ? null : profile, isDescending };
}

/** The sorted column; undefined if its evaluator has no matching results. */
export function sortOf(order: ScoreOrder | undefined, judges: readonly Judge[]): Sort | undefined {
  const judge = judges.find(
    ({ evaluator, profile }) => evaluator === order?.evaluator && profile === order.profile,
  );
  return order === undefined || judge === undefined
    ? undefined
    : { id: judgeColumnId(judge), isDescending: order.isDescending };
}

/** The order of a sorted column for the address; undefined for the order of samples. */
export function writeSampleSort(sort: Sort | undefined, judges: readonly Judge[]): string | undefined {
  const judge = judges.find((one) => judgeColumnId(one) === sort?.id);
  if (sort === undefined || judge === undefined) return undefined;
  const name = judge.profile === null ? judge.evaluator : `${judge.evaluator}${separator}${judge.profile}`;
  return sort.isDescending ? `-${name}` : name;
}
