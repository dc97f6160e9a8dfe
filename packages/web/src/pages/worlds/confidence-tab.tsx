import type { Run, RunCalibration, World, WorldConfig } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { useChange, usePresage } from "../../data/client.ts";
import { calibrationQuery } from "../../data/runs.ts";
import { referenceOf, worldsKey } from "../../data/worlds.ts";
import { counted, formatScore, formatShare, unbroken } from "../../format/numbers.ts";
import { AllowedButton } from "../../parts/allowed.tsx";
import { ConfidenceCharts } from "../../parts/confidence-card.tsx";
import { MeasureLink } from "../../parts/runs.tsx";
import { IntervalTable } from "../../ui/charts/interval-table.tsx";
import { Awaited, ErrorNotice } from "../../ui/notice.tsx";
import { ExplainedName } from "../../ui/tooltip.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";
import { RunLink, revisionOf } from "./world-tabs.tsx";

interface ConfidenceTabProps {
  world: World;
  /** The world's runs, newest first. */
  runs: readonly Run[];
}

/** How reliable a world's confidences are in its newest run since they were fitted, and what they were fitted on. */
export function ConfidenceTab({ world, runs }: ConfidenceTabProps) {
  const { calibration } = world.pinned;
  if (calibration === null) return <Calibrate world={world} runs={runs} />;
  const { table, methods, samples, trajectories, split, evaluator, run_id } = calibration;
  const own = runs.find(({ id }) => id === run_id);
  const isLater = ({ status, target }: Run) =>
    own !== undefined && status === "finished" && revisionOf(target) > revisionOf(own.target);
  const later = runs.filter(isLater);
  // As the server chooses the run that speaks for a revision.
  const sound = later.filter(({ provenance }) => !provenance.leaky);
  const shown = sound.find(({ provenance }) => !provenance.draw) ?? sound[0] ?? later[0] ?? own;
  return (
    <>
      {shown !== undefined && <Figures world={world} run={shown} evaluator={evaluator} />}
      <p className="border-t border-line px-4 py-3 text-xs text-ink-3 first:border-t-0">
        Fitted by {table.kind} regression on the numbers of {methods.join(", ")} in{" "}
        {counted(samples, "prediction")} of {counted(trajectories, "trajectory", "trajectories")}
        {split !== null && `, those with split = ${split}`}, of{" "}
        {own ? <RunLink run={own} /> : "a run that is deleted"}. Right is a pass of {evaluator}.
      </p>
    </>
  );
}

/** Fits confidences to the scores of a world that has none yet. */
function Calibrate({ world, runs }: ConfidenceTabProps) {
  const { name, config } = world;
  const calibrate = useChange(worldsKey, ({ worlds }, { id: run_id, evaluators: [first] }: Run) =>
    worlds.calibrate(name, { run_id, ...(first && { evaluator: first.evaluator }) }),
  );
  const split = config.confidence?.calibration?.split;
  const isOfIt = ({ status, target }: Run) => status === "finished" && revisionOf(target) === world.revision;
  const run = runs.find(isOfIt);
  return (
    <div className="flex flex-col items-start gap-3 p-4 text-sm">
      <p>
        Its answers have a score by {config.confidence?.methods?.join(", ")}, which is no confidence until it
        is fitted on a judged run of {referenceOf(world)} with 50 predictions or more.{" "}
        {split ? `Those with split = ${split}` : "All predictions of that run"} are fitted on, so that they no
        longer say what the confidences are worth: test on other samples.
      </p>
      {run === undefined ? (
        <MeasureLink world={world} />
      ) : (
        <AllowedButton
          needs="evaluate"
          variant="primary"
          isBusy={calibrate.isPending}
          onClick={() => calibrate.mutate(run)}
        >
          Calibrate on {split ? "those" : `the ${counted(run.progress.samples, "prediction")}`} of “{run.name}
          ”
        </AllowedButton>
      )}
      {calibrate.error !== null && <ErrorNotice error={calibrate.error} />}
    </div>
  );
}

interface ThresholdProps {
  world: World;
  confidence: NonNullable<WorldConfig["confidence"]>;
  figures: RunCalibration;
}

/** The least confidence that keeps the allowed risk, and a button that makes the world require it. */
function Threshold({ world, confidence, figures }: ThresholdProps) {
  const { threshold: least, risk } = figures.coverage_at_risk;
  const { min_confidence: needed } = confidence;
  const need = useChange(worldsKey, ({ worlds }, min_confidence: number) =>
    worlds.revise(world.name, { confidence: { ...confidence, min_confidence } }),
  );
  const below = confidence.below === "escalate" ? "are asked of another deployment" : "abstain";
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2 text-sm">
      <p className="text-ink-2">
        {figures.of === "score"
          ? "A run through the calibrated world says what its confidences are worth."
          : least !== null &&
            `Up to ${formatShare(risk)} are wrong from a confidence of ${formatShare(least)} on.`}{" "}
        {needed == null
          ? "No answer abstains."
          : `The world needs ${formatShare(needed)}: answers with less ${below}.`}
      </p>
      {figures.of === "confidence" && least !== null && needed !== least && (
        <AllowedButton
          needs="evaluate"
          variant="primary"
          title={`Makes revision ${world.revision + 1}, which differs in that alone`}
          isBusy={need.isPending}
          onClick={() => need.mutate(least)}
        >
          Need {formatShare(least)}
        </AllowedButton>
      )}
      {need.error !== null && <ErrorNotice error={need.error} />}
    </div>
  );
}

function Figures({ world, run, evaluator }: { world: World; run: Run; evaluator: string }) {
  // A run may have been judged by an evaluator other than the calibration's.
  const named = run.evaluators.some((one) => one.evaluator === evaluator)
    ? evaluator
    : (run.evaluators[0]?.evaluator ?? evaluator);
  const { data, error, refetch } = useQuery(calibrationQuery(usePresage(), run.id, named));
  if (data === undefined) return <Awaited error={error} onRetry={refetch} count={3} className="h-8" />;
  const { confidence } = world.config;
  const { brier, ece, auroc, coverage_at_risk: kept, left_out, of } = data;
  const notes = [
    of === "score" ? "Raw scores, before calibration." : "",
    left_out > 0 ? `Left out: ${counted(left_out, "prediction")} that it was calibrated on.` : "",
  ];
  const figures = [
    { name: "Brier score", figure: brier, says: "Squared error; 0 is best." },
    {
      name: "Calibration error",
      figure: ece,
      says: `Perfectly calibrated ones would have ${ece.expected?.toFixed(3) ?? "–"}.`,
    },
    { name: "AUROC", figure: auroc, says: "How often a right one is above a wrong one; by chance 0.5." },
    {
      name: "Coverage",
      figure: kept,
      says: `The share that is kept at a risk of ${formatShare(kept.risk)}.`,
    },
  ];
  // The sentence says that nothing can be kept.
  const drawn = figures.filter(({ figure }) => figure !== kept || kept.value !== 0);
  const withNote = figures.filter(({ figure: { note } }) => note !== null && !data.sentence.endsWith(note));
  return (
    <section aria-label="What they are worth" className="flex min-w-0 flex-col gap-2 py-4">
      <div className="flex flex-col gap-2 px-4">
        <p className="font-medium">{unbroken(data.sentence)}</p>
        {confidence && <Threshold world={world} confidence={confidence} figures={data} />}
        <p className="text-xs text-ink-3">
          {counted(auroc.count, "prediction")} of {counted(auroc.trajectories, "trajectory", "trajectories")}{" "}
          in <RunLink run={run} />, by <InlineText text={named} />. {notes.join(" ")}
        </p>
      </div>
      <div className="grid min-w-0 *:min-w-0 lg:grid-cols-2">
        <ConfidenceCharts of={data} />
      </div>
      {brier.value !== null && (
        <IntervalTable
          mark="dot"
          label="Figures of its confidences"
          rowLabel="Figure"
          valueLabel="Value"
          domain={[0, 1]}
          format={(value) => value.toFixed(3)}
          formatTick={formatScore}
          rows={drawn.map(({ name, figure: { value, interval, count, trajectories }, says }) => ({
            key: name,
            label: name,
            shown: <ExplainedName name={name} explanation={says} />,
            value,
            lower: interval?.lower,
            upper: interval?.upper,
            count,
            basis: `${says} ${counted(count, "prediction")} of ${counted(trajectories, "trajectory", "trajectories")}.`,
          }))}
        />
      )}
      {[...Map.groupBy(withNote, ({ figure }) => figure.note)].map(([note, of]) => (
        <p key={note} className="px-4 text-xs text-ink-3">
          {of.map(({ name }) => name).join(", ")}: {note}
        </p>
      ))}
    </section>
  );
}
