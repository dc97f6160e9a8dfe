import type { Dataset, DatasetRevision, EvaluatorFamily, Run, RunCreateRequest } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { usePresage } from "../../data/client.ts";
import { comparedReportQuery } from "../../data/comparisons.ts";
import { revisionsQuery, runsOnDatasetQuery } from "../../data/datasets.ts";
import { counted, countedIn, formatCost, formatCount } from "../../format/numbers.ts";
import { Card } from "../../ui/card.tsx";
import type { RunDraft } from "./read-run-draft.ts";

type RunEstimate = NonNullable<ReturnType<typeof useRunEstimate>>;

/** The chosen revision; the latest while it is loading. */
export function useChosenRevision(
  { dataset, revision }: RunDraft,
  datasets: readonly Dataset[] | undefined,
): DatasetRevision | undefined {
  const latest = datasets?.find(({ id }) => id === dataset)?.latest_revision ?? undefined;
  const isOlder = latest !== undefined && revision !== "" && Number(revision) !== latest.revision;
  const { data: all } = useQuery({ ...revisionsQuery(usePresage(), dataset), enabled: isOlder });
  return (isOlder ? all?.find((one) => one.revision === Number(revision)) : undefined) ?? latest;
}

/** An estimate of a run's requests and cost. Undefined if the run cannot be started yet. */
export function useRunEstimate(
  request: RunCreateRequest | undefined,
  asksModel: boolean,
  revision: DatasetRevision | undefined,
  families: readonly EvaluatorFamily[],
) {
  const presage = usePresage();
  const id = request?.dataset_id ?? "";
  const { data: runs } = useQuery({
    ...runsOnDatasetQuery(presage, id),
    enabled: request !== undefined && asksModel,
  });
  // Undefined while not known; null if there is none.
  const earlier =
    request !== undefined && asksModel && runs !== undefined
      ? (runs.find((run) => isLike(run, request)) ?? null)
      : undefined;
  const { data: report } = useQuery({
    ...comparedReportQuery(presage, earlier?.id ?? ""),
    enabled: earlier != null,
  });
  if (request === undefined || revision === undefined) return undefined;
  // The chosen revision is still loading.
  if (request.revision !== undefined && request.revision !== revision.revision) return undefined;
  const predictions = Math.min(request.limit ?? revision.samples, revision.samples) * (request.repeats ?? 1);
  const judges = request.evaluators.filter(({ evaluator }) =>
    families.some(({ family_name, uses_model }) => uses_model && family_name === evaluator),
  ).length;
  const scale = predictions / (earlier?.progress.predicted ?? 1);
  const { tokens, cost } = report ?? {};
  return {
    request,
    asksModel,
    revision,
    predictions,
    judges,
    requests: predictions * (judges + (asksModel ? 1 : 0)),
    earlier,
    // Assumes as many tokens per prediction as in the earlier run.
    tokens:
      tokens && tokens.prompt !== null && tokens.completion !== null
        ? Math.round((tokens.prompt + tokens.completion) * scale)
        : undefined,
    cost: cost?.total == null ? undefined : formatCost(cost.total * scale, cost.currency),
  };
}

function isLike({ status, progress, target }: Run, { target: wanted }: RunCreateRequest): boolean {
  if (status !== "finished" || progress.predicted === 0) return false;
  if ("world" in target && "world" in wanted) return target.world === wanted.world;
  if (!("deployment" in target) || !("deployment" in wanted)) return false;
  return target.deployment === wanted.deployment && (target.model ?? null) === (wanted.model ?? null);
}

/** “2,954 requests, about $1.20” */
export function describeEstimate({ predictions, judges, requests, cost }: RunEstimate): string {
  if (requests === 0) return `${counted(predictions, "prediction")}, no requests`;
  // The earlier run's cost does not include judges.
  const price = cost === undefined ? "cost unknown" : `${judges === 0 ? "about" : "over"} ${cost}`;
  return `${counted(requests, "request")}, ${price}`;
}

export function RunEstimateCard({ estimate }: { estimate: RunEstimate | undefined }) {
  return (
    <Card title="Estimate">
      <div className="flex flex-col gap-2 px-4 py-3 text-sm">
        {estimate === undefined ? (
          <p className="text-ink-2">Choose a dataset, a target and evaluators.</p>
        ) : (
          <Estimate {...estimate} />
        )}
      </div>
    </Card>
  );
}

function Estimate({ request, asksModel, revision, predictions, judges, ...estimate }: RunEstimate) {
  const { earlier, tokens, cost } = estimate;
  return (
    <>
      <p>
        <strong className="font-semibold tabular-nums">{formatCount(predictions)}</strong>{" "}
        {asksModel ? "requests to the model" : "predictions, which ask no model"}
      </p>
      {judges > 0 && (
        <p>{formatCount(predictions * judges)} requests to judges, whose cost is not estimated</p>
      )}
      <p className="text-ink-2">
        {request.limit == null
          ? countedIn(revision.samples, revision.trajectories)
          : `${formatCount(request.limit)} of ${counted(revision.samples, "sample")}`}
        {(request.repeats ?? 1) > 1 && `, ${request.repeats} times each`};{" "}
        {counted(predictions * request.evaluators.length, "evaluation")}.
      </p>
      {earlier === null && (
        <p className="text-xs text-ink-3">
          The cost is unknown: no run of this target on this dataset has finished.
        </p>
      )}
      {earlier != null && tokens !== undefined && (
        <p className="text-ink-2">
          About {formatCount(tokens)} tokens
          {cost !== undefined && (
            <>
              , <strong className="font-semibold text-ink">{cost}</strong>
            </>
          )}
          , going by the run “{earlier.name}”.
        </p>
      )}
    </>
  );
}
