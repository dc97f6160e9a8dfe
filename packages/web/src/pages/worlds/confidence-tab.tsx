import type { Run, RunCalibration, World } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { usePresage } from "../../data/client.ts";
import { calibrationQuery } from "../../data/runs.ts";
import { counted, formatScore, formatShare, unbroken } from "../../format/numbers.ts";
import { Fact } from "../../ui/card.tsx";
import { Awaited } from "../../ui/notice.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../ui/table.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";

type Calibration = NonNullable<World["pinned"]["calibration"]>;

interface ConfidenceTabProps {
  calibration: Calibration;
  /** Those through the world, the newest first; undefined while they are not known. */
  runs: readonly Run[] | undefined;
}

/** What a world's confidences were fitted on, and what they are worth in its newest run since then. */
export function ConfidenceTab({ calibration, runs }: ConfidenceTabProps) {
  const { table, methods, samples, trajectories, split, evaluator, run_id } = calibration;
  const own = runs?.find(({ id }) => id === run_id);
  const later =
    own && runs?.find((run) => run.status === "finished" && revisionOf(run.target) > revisionOf(own.target));
  const shown = later ?? own;
  const facts: [string, React.ReactNode][] = [
    ["Methods", methods.join(", ")],
    ["Fitted by", table.kind === "isotonic" ? "isotonic regression" : "logistic regression"],
    [
      "Fitted on",
      `${counted(samples, "prediction")} of ${counted(trajectories, "trajectory", "trajectories")}${split === null ? "" : `, those with split = ${split}`}`,
    ],
    ["Right is", `a pass of ${evaluator}`],
    ["Run", own ? <RunLink key="run" run={own} /> : runs ? "deleted" : "…"],
  ];
  return (
    <>
      <dl className="grid grid-cols-[9rem_1fr] text-sm">
        {facts.map(([name, value]) => (
          <Fact key={name} look="lined" name={name}>
            <span className="min-w-0 wrap-anywhere">
              {typeof value === "string" ? <InlineText text={value} /> : value}
            </span>
          </Fact>
        ))}
      </dl>
      {shown !== undefined && <Figures run={shown} evaluator={evaluator} />}
    </>
  );
}

function revisionOf(target: Run["target"]): number {
  return "world" in target ? Number(target.world.split("@")[1]) : 0;
}

export function RunLink({ run: { id, name } }: { run: Pick<Run, "id" | "name"> }) {
  return (
    <Link to="/runs/$runId" params={{ runId: id }} className="text-accent-ink hover:underline">
      <InlineText text={name} />
    </Link>
  );
}

function Figures({ run, evaluator }: { run: Run; evaluator: string }) {
  // A run may have been judged by another evaluator than the calibration's.
  const named = run.evaluators.some((one) => one.evaluator === evaluator)
    ? evaluator
    : (run.evaluators[0]?.evaluator ?? evaluator);
  const { data, error, refetch } = useQuery(calibrationQuery(usePresage(), run.id, named));
  if (data === undefined) return <Awaited error={error} onRetry={refetch} count={3} className="h-8" />;
  const { brier, ece, auroc, coverage_at_risk: kept, left_out, of } = data;
  const notes = [
    of === "score" ? "Of raw scores, before the calibration." : "",
    left_out > 0 ? `${counted(left_out, "prediction")} that it was calibrated on do not count.` : "",
  ];
  const figures = Object.entries({
    "Brier score": brier,
    "Calibration error": ece,
    AUROC: auroc,
    Coverage: kept,
  });
  const withNote = figures.filter(([, { note }]) => note !== null && !data.sentence.endsWith(note));
  return (
    <section
      aria-label="What they are worth"
      className="flex min-w-0 flex-col gap-2 border-t border-line p-4"
    >
      <p className="text-sm">{unbroken(data.sentence)}</p>
      <p className="text-xs text-ink-3">
        {counted(auroc.count, "prediction")} of {counted(auroc.trajectories, "trajectory", "trajectories")} in{" "}
        <RunLink run={run} />, by <InlineText text={named} />. {notes.join(" ")}
      </p>
      {brier.value !== null && (
        <Table label="Figures of its confidences" isStacked>
          <thead className="border-b border-line">
            <tr>
              <HeaderCell>Figure</HeaderCell>
              <HeaderCell isNumber>Value</HeaderCell>
              <HeaderCell isNumber>At 95&nbsp;%</HeaderCell>
              <HeaderCell>What it says</HeaderCell>
            </tr>
          </thead>
          <tbody>
            <FigureRow name="Brier score" figure={brier} meaning="Squared error; 0 is best" />
            <FigureRow
              name="Calibration error"
              figure={ece}
              meaning={`Perfectly calibrated ones would have ${formatScore(ece.expected)}`}
            />
            <FigureRow
              name="AUROC"
              figure={auroc}
              meaning="How often a right one is above a wrong one; by chance 0.5"
            />
            <FigureRow
              name="Coverage"
              figure={kept}
              meaning={`Kept at a risk of ${formatShare(kept.risk)}${kept.threshold === null ? "" : `, from ${formatScore(kept.threshold)}`}`}
            />
          </tbody>
        </Table>
      )}
      {[...Map.groupBy(withNote, ([, { note }]) => note)].map(([note, of]) => (
        <p key={note} className="text-xs text-ink-3">
          {of.map(([name]) => name).join(", ")}: {note}
        </p>
      ))}
    </section>
  );
}

interface FigureRowProps {
  name: string;
  figure: Pick<RunCalibration["auroc"], "value" | "interval">;
  meaning: string;
}

function FigureRow({ name, figure: { value, interval }, meaning }: FigureRowProps) {
  return (
    <tr className="border-b border-line last:border-b-0">
      <RowHeader>{name}</RowHeader>
      <Cell isNumber>{formatScore(value)}</Cell>
      <Cell isNumber>
        {interval === null ? "–" : `${formatScore(interval.lower)} to ${formatScore(interval.upper)}`}
      </Cell>
      <Cell>{meaning}</Cell>
    </tr>
  );
}
