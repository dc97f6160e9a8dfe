import type { EvaluationSummaryGroup } from "@presage/sdk";
import { splitVersion } from "../../../format/split-version.ts";
import type { DataColumn } from "../../../ui/data-table/data-column.ts";
import { SampleName } from "../../../ui/sample-name.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { VerdictMark } from "../../../ui/verdict/verdict-mark.tsx";
import { type Judge, resultsOf, type SampleRow } from "./group-by-sample.ts";

const mostJudges = 12;

/** The evaluators that become columns: those with the most results. Revisions of a profile share one. */
export function judgesOf(groups: readonly Pick<EvaluationSummaryGroup, "key">[]): Judge[] {
  const judges = new Map<string, Judge>();
  for (const { key } of groups) {
    const judge = { evaluator: key.evaluator_id ?? "", profile: key.profile_name || null };
    judges.set(JSON.stringify(judge), judge);
  }
  return [...judges.values()].slice(0, mostJudges);
}

/** One column an evaluator, between what the sample is and what was predicted for it. */
export function sampleColumns(judges: readonly Judge[]): DataColumn<SampleRow>[] {
  return [
    {
      id: "sample",
      label: "Sample",
      hint: "In the order of the samples’ IDs, numbers by value. Results without a sample are left out.",
      value: ({ sampleId }) => sampleId,
      cell: ({ sampleId }) => <SampleName id={sampleId} />,
      isSortable: false,
      isFixed: true,
      widthPx: 220,
    },
    ...judges.map(
      (judge, index): DataColumn<SampleRow> => ({
        id: judgeColumnId(index),
        label: nameOf(judge, judges),
        hint: `The last verdict and score by ${judge.evaluator}${judge.profile === null ? "" : `, ${judge.profile}`}. A person’s correction counts. Sorted, samples without its score are left out.`,
        value: (row) => scoreOf(row, judge),
        cell: (row) => <LastVerdict row={row} judge={judge} />,
        isNumber: true,
        isSortable: true,
        widthPx: 120,
      }),
    ),
    {
      id: "output",
      label: "Output",
      value: ({ results }) => results[0]?.excerpt,
      cell: ({ results }) => (
        <span className="font-mono text-xs text-ink">
          <InlineText text={results[0]?.excerpt ?? ""} />
        </span>
      ),
      isSortable: false,
      isElastic: true,
      widthPx: 200,
    },
    {
      id: "run",
      label: "Run",
      value: ({ runId }) => runId,
      cell: ({ runId }) => (runId === null ? "–" : <InlineText text={runId} />),
      isSortable: false,
      widthPx: 116,
      isWideOnly: true,
    },
  ];
}

/** The column of the judge at this place. */
export function judgeColumnId(index: number): string {
  return `e${index}`;
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
    <span className="inline-flex items-center gap-1">
      {results.length > 1 && (
        <span className="text-xs text-ink-3" title={`${results.length} results; the last one is shown`}>
          ×{results.length}
        </span>
      )}
      <VerdictMark
        status={last.status}
        pass={last.corrected?.pass ?? last.pass}
        score={last.corrected?.score ?? last.score_raw}
      />
    </span>
  );
}

/** The family, with profile or version where others have the same one. */
export function nameOf({ evaluator, profile }: Judge, judges: readonly Judge[]): string {
  const family = familyOf(evaluator);
  const alike = judges.filter((other) => familyOf(other.evaluator) === family);
  const isPlain = profile === null || profile === "system:default";
  if (alike.length === 1) return isPlain ? family : `${family} ${profile}`;
  const isSameId = alike.every((other) => other.evaluator === evaluator);
  return [isSameId ? family : evaluator, profile].filter((part) => part !== null).join(" ");
}

function familyOf(evaluator: string): string {
  return splitVersion(evaluator).family.replace(/-$/, "");
}
