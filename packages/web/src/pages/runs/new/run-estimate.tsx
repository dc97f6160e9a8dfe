import type { DatasetRevision, Run, RunCreateRequest } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { runsOnDatasetQuery } from "../../../data/runs/datasets.ts";
import { runReportQuery } from "../../../data/runs/runs.ts";
import { usePresage } from "../../../data/use-presage.ts";
import { formatCost, formatCount } from "../../../format/format-number.ts";
import { Card } from "../../../ui/card.tsx";

interface RunEstimateProps {
  /** The form's, as far as it can be sent. */
  request: RunCreateRequest | undefined;
  revision: DatasetRevision | undefined;
}

/** The estimated requests of a run, and its cost if an earlier run of the same target tells. */
export function RunEstimate({ request, revision }: RunEstimateProps) {
  return (
    <Card title="Estimate">
      <div className="flex flex-col gap-2 px-4 py-3 text-sm">
        {request === undefined || revision === undefined ? (
          <p className="text-ink-2">Choose a dataset, a target and evaluators.</p>
        ) : (
          <Estimate request={request} revision={revision} />
        )}
      </div>
    </Card>
  );
}

function Estimate({ request, revision }: { request: RunCreateRequest; revision: DatasetRevision }) {
  const predictions = revision.samples * (request.repeats ?? 1);
  const asksModel = "deployment" in request.target;
  return (
    <>
      <p>
        <strong className="font-semibold tabular-nums">{formatCount(predictions)}</strong>{" "}
        {asksModel ? "requests to the model" : "predictions of a baseline, which ask no model"}
      </p>
      <p className="text-ink-2">
        {formatCount(revision.samples)} samples in {formatCount(revision.trajectories)} trajectories
        {(request.repeats ?? 1) > 1 && `, ${request.repeats} times each`};{" "}
        {formatCount(predictions * request.evaluators.length)} evaluations.
      </p>
      {asksModel && <EarlierCost request={request} predictions={predictions} />}
    </>
  );
}

function EarlierCost({ request, predictions }: { request: RunCreateRequest; predictions: number }) {
  const presage = usePresage();
  const { data: runs } = useQuery(runsOnDatasetQuery(presage, request.dataset_id));
  const earlier = runs?.find((run) => run.status === "finished" && isSameTarget(run, request));
  if (runs === undefined) return null;
  if (earlier === undefined) {
    return (
      <p className="text-xs text-ink-3">
        The cost is not known before: no finished run of this target on this dataset tells how many tokens a
        prediction takes.
      </p>
    );
  }
  return <CostLikeThat earlier={earlier} predictions={predictions} />;
}

function isSameTarget({ target }: Run, { target: wanted }: RunCreateRequest): boolean {
  if (!("deployment" in target) || !("deployment" in wanted)) return false;
  return target.deployment === wanted.deployment && (target.model ?? null) === (wanted.model ?? null);
}

function CostLikeThat({ earlier, predictions }: { earlier: Run; predictions: number }) {
  const { data: report } = useQuery(runReportQuery(usePresage(), earlier));
  if (report === undefined || earlier.progress.predicted === 0) return null;
  const scale = predictions / earlier.progress.predicted;
  const { cost, tokens } = report;
  return (
    <p className="text-ink-2">
      About {formatCount(Math.round((tokens.prompt + tokens.completion) * scale))} tokens
      {cost?.total != null && (
        <>
          ,{" "}
          <strong className="font-semibold text-ink">{formatCost(cost.total * scale, cost.currency)}</strong>
        </>
      )}
      , if a prediction takes as many as in {earlier.name}.
    </p>
  );
}
