import { columnSizingFeature, createColumnHelper, tableFeatures } from "@tanstack/react-table";
import { UserRoundPen } from "lucide-react";
import type { ResultRow } from "../../../data/evaluation-results.ts";
import { formatScore } from "../../../format/format-number.ts";
import { Time } from "../../../ui/time.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { VerdictBadge } from "../../../ui/verdict/verdict-badge.tsx";

export const resultTableFeatures = tableFeatures({ columnSizingFeature });

const helper = createColumnHelper<typeof resultTableFeatures, ResultRow>();

/** The output takes the remaining width. */
export const outputColumnId = "output";

const columns = {
  verdict: helper.display({
    id: "verdict",
    header: "Verdict",
    size: 156,
    cell: ({ row }) => <CountedVerdict row={row.original} />,
  }),
  score: helper.display({
    id: "score",
    header: "Score",
    size: 104,
    cell: ({ row: { original } }) =>
      // A correction of the verdict alone may leave the score as it is.
      original.corrected === null || original.corrected.score === original.score_raw ? (
        <ScoreBar score={original.score_raw} />
      ) : (
        <CorrectedScore score={original.corrected.score} before={original.score_raw} />
      ),
  }),
  evaluator: helper.display({
    id: "evaluator",
    header: "Evaluator and profile",
    size: 186,
    cell: ({ row: { original } }) => <EvaluatorAndProfile row={original} />,
  }),
  output: helper.display({
    id: outputColumnId,
    header: "Output",
    size: 248,
    cell: ({ row: { original } }) => <Excerpt row={original} />,
  }),
  app: helper.display({
    id: "app",
    header: "App",
    size: 96,
    cell: ({ row }) => <InlineText text={row.original.app} />,
  }),
  run: helper.display({
    id: "run",
    header: "Run",
    size: 116,
    cell: ({ row }) => <NameOrNone name={row.original.evaluation_run_id} />,
  }),
  sample: helper.display({
    id: "sample",
    header: "Sample",
    size: 108,
    cell: ({ row }) => <NameOrNone name={row.original.dataset_sample_id} />,
  }),
  when: helper.display({
    id: "when",
    header: "When",
    size: 130,
    cell: ({ row }) => <Time at={row.original.created_at} />,
  }),
};

const { verdict, score, evaluator, output, app, run, sample, when } = columns;

export const resultColumns = helper.columns([verdict, score, evaluator, output, app, run, sample, when]);

/** On a phone the output is in sight, and the rest follows. */
export const narrowResultColumns = helper.columns([
  { ...verdict, size: 152 },
  { ...score, size: 64 },
  output,
  evaluator,
  app,
  run,
  sample,
  when,
]);

function EvaluatorAndProfile({ row }: { row: ResultRow }) {
  const { evaluator_id, profile_name, evaluator_profile_revision: revision } = row;
  return (
    <span className="flex min-w-0 flex-col leading-4">
      <span className="truncate font-medium text-ink">
        <InlineText text={evaluator_id} />
      </span>
      {profile_name !== null && (
        <span className="truncate text-xs text-ink-3">
          <InlineText text={profile_name} />
          {revision !== null && ` · r${revision}`}
        </span>
      )}
    </span>
  );
}

/** Without a verdict, shows the error instead of the output. */
function Excerpt({ row: { status, error_message, excerpt } }: { row: ResultRow }) {
  if (status !== "success" && error_message !== null) {
    return (
      <span className="text-warn">
        <InlineText text={error_message} />
      </span>
    );
  }
  if (excerpt === null) return <span className="text-ink-3">No output</span>;
  return (
    <span className="font-mono text-xs text-ink">
      <InlineText text={excerpt} />
    </span>
  );
}

function NameOrNone({ name }: { name: string | number | null }) {
  return name === null ? <span className="text-ink-3">–</span> : <InlineText text={String(name)} />;
}

/** A score from 0 to 1 as a number and a bar. */
function ScoreBar({ score }: { score: number | null }) {
  return (
    <span className="flex items-center justify-end gap-2">
      {score !== null && (
        <span aria-hidden className="h-1 w-10 max-md:hidden overflow-hidden rounded-full bg-line">
          <span className="block h-full rounded-full bg-ink-3" style={{ width: `${score * 100}%` }} />
        </span>
      )}
      <span className="w-11 text-right tabular-nums">{formatScore(score)}</span>
    </span>
  );
}

/** A person’s score, which counts, beside the evaluator’s. */
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

/** The effective verdict. A person’s is marked. */
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
