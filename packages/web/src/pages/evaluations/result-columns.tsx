import { UserRoundPen } from "lucide-react";
import type { ResultRow } from "../../data/results.ts";
import { formatScore } from "../../format/numbers.ts";
import { plainName } from "../../format/words.ts";
import { RunLink } from "../../parts/runs.tsx";
import type { DataColumn } from "../../ui/data-table/columns.ts";
import { Beginning, InlineText, SampleName } from "../../ui/untrusted-text/inline-text.tsx";
import { VerdictBadge } from "../../ui/verdict.tsx";

const verdict: DataColumn<ResultRow> = {
  id: "verdict",
  label: "Verdict",
  value: verdictOf,
  cell: (row) => (
    <>
      <span className="sr-only">Result {row.id}: </span>
      <CountedVerdict row={row} />
    </>
  ),
  widthPx: 132,
  isFixed: true,
};
const score: DataColumn<ResultRow> = {
  id: "score",
  label: "Score",
  hint: "From 0 to 1; a person’s correction counts",
  value: ({ corrected, score_raw }) => (corrected === null ? score_raw : corrected.score),
  cell: ({ corrected, score_raw }) =>
    // A correction of only the verdict may keep the score.
    corrected === null || corrected.score === score_raw ? (
      formatScore(score_raw)
    ) : (
      <CorrectedScore score={corrected.score} before={score_raw} />
    ),
  isNumber: true,
  widthPx: 76,
};
const evaluator = (nameOf: (id: string) => string): DataColumn<ResultRow> => ({
  id: "evaluator",
  label: "Evaluator and profile",
  value: ({ evaluator_id, profile_name }) =>
    profile_name === null ? evaluator_id : `${evaluator_id} ${profile_name}`,
  cell: (row) => <EvaluatorAndProfile row={row} name={nameOf(row.evaluator_id)} />,
  widthPx: 168,
});
const output: DataColumn<ResultRow> = {
  id: "output",
  label: "Output",
  value: ({ excerpt }) => excerpt,
  cell: (row) => <Excerpt row={row} />,
  widthPx: 176,
  isElastic: true,
};
const gold: DataColumn<ResultRow> = {
  id: "gold",
  label: "Gold",
  hint: "What the output was compared with.",
  value: ({ gold }) => gold,
  cell: ({ gold, excerpt }) => <Beginning text={gold} beside={excerpt} />,
  widthPx: 140,
  isElastic: true,
};
const run: DataColumn<ResultRow> = {
  id: "run",
  label: "Run",
  value: ({ evaluation_run_id }) => evaluation_run_id,
  cell: ({ evaluation_run_id: id }) => (id === null ? <None /> : <RunLink id={id} />),
  widthPx: 148,
};
const sample: DataColumn<ResultRow> = {
  id: "sample",
  label: "Sample",
  value: ({ dataset_sample_id }) => dataset_sample_id,
  cell: ({ dataset_sample_id: id }) => (id === null ? <None /> : <SampleName id={String(id)} />),
  widthPx: 176,
};
const when: DataColumn<ResultRow> = {
  id: "when",
  label: "When",
  value: ({ created_at }) => created_at,
  isSortable: true,
  isNewestFirst: true,
  widthPx: 112,
};

export const resultColumns = (nameOf: (id: string) => string): DataColumn<ResultRow>[] => [
  verdict,
  evaluator(nameOf),
  score,
  output,
  gold,
  run,
  sample,
  when,
];

function verdictOf({ corrected, pass, status }: ResultRow): string {
  const counted = corrected?.pass ?? pass;
  if (status !== "success") return status;
  return counted === null ? "score only" : counted ? "pass" : "fail";
}

function EvaluatorAndProfile({ row, name }: { row: ResultRow; name: string }) {
  const { evaluator_id, profile_name, evaluator_profile_revision: revision } = row;
  return (
    <span className="flex min-w-0 flex-col leading-4">
      <span className="truncate font-medium text-ink" title={evaluator_id}>
        <InlineText text={name} />
      </span>
      {profile_name !== null && (
        <span className="truncate text-xs text-ink-3">
          <InlineText text={plainName(profile_name)} />
          {revision !== null && plainName(profile_name) === profile_name && ` · r${revision}`}
        </span>
      )}
    </span>
  );
}

/** The beginning of the output; without a verdict, the error in its place. */
function Excerpt({ row: { status, error_message, excerpt, gold } }: { row: ResultRow }) {
  if (status !== "success" && error_message !== null) {
    return (
      <span className="text-warn">
        <InlineText text={error_message} />
      </span>
    );
  }
  if (excerpt === null) return <span className="text-ink-3">No output</span>;
  return <Beginning text={excerpt} beside={gold} />;
}

function None() {
  return <span className="text-ink-3">–</span>;
}

/** A person’s score, which counts, next to the evaluator’s. */
function CorrectedScore({ score, before }: { score: number | null; before: number | null }) {
  return (
    <span
      className="flex items-center justify-end gap-2 tabular-nums"
      title={`Corrected by a person. The evaluator’s score: ${formatScore(before)}.`}
    >
      <span className="text-xs text-ink-3">
        <span className="sr-only">The evaluator’s score: </span>
        <s>{formatScore(before)}</s>
      </span>
      <span className="text-right">
        <span className="sr-only">, corrected: </span>
        {formatScore(score)}
      </span>
    </span>
  );
}

/** The verdict that counts. A person’s verdict is marked. */
function CountedVerdict({
  row: { status, pass, corrected },
}: {
  row: Pick<ResultRow, "status" | "pass" | "corrected">;
}) {
  if (corrected === null) return <VerdictBadge status={status} pass={pass} />;
  const own = pass === null ? "none" : pass ? "pass" : "fail";
  return (
    <span
      className="inline-flex items-center gap-1.5"
      title={`Corrected by a person. The evaluator’s verdict: ${own}.`}
    >
      <VerdictBadge status={status} pass={corrected.pass} />
      <UserRoundPen className="size-3.5 text-ink-3" aria-label="corrected" />
    </span>
  );
}
