import type { DatasetSample, RunExportLine } from "@presage/contract";
import { ownSolver } from "../datasets/traces/layouts/inspect.ts";
import { toIsoInstant } from "../platform/storage/columns.ts";
import { type RunEvaluator, toRun } from "../runs/run.ts";
import type { promptOf } from "../runs/runner/missing-work.ts";
import { numberOf, type RunOfDataset } from "./predicted.ts";

/** The evaluator's name in the log. */
export function nameOf(
  { evaluators }: Pick<RunOfDataset, "evaluators">,
  { id, profile }: RunEvaluator,
): string {
  return evaluators.filter((one) => one.id === id).length > 1 ? `${id}/${profile.name}` : id;
}

/** What stands at the log's beginning, as Inspect's `LogStart`. */
export function startOf(run: RunOfDataset, dataset: string) {
  const { target, provenance, repeats } = run;
  const { name, mode, target: shownTarget, params, tags, notes } = toRun(run);
  const asked = target.kind === "deployment" ? (target.model ?? target.deployment) : target.kind;
  return {
    version: 2,
    eval: {
      eval_id: run.id,
      run_id: run.id,
      created: toIsoInstant(run.created_at),
      task: dataset,
      task_id: run.dataset.datasetId,
      task_version: run.dataset.revision,
      solver: ownSolver,
      dataset: { name: dataset, samples: run.counts.samples / repeats, shuffled: false },
      model: provenance.models[0] ?? asked,
      model_args: params ?? {},
      config: { epochs: repeats, epochs_reducer: ["mean"], fail_on_error: false },
      packages: { presage: provenance.presage_version },
      metadata: { name, mode, target: shownTarget, tags, provenance, notes },
      scorers: run.evaluators.map((evaluator) => ({
        name: nameOf(run, evaluator),
        options: { profile: evaluator.profile.name, revision: evaluator.profile.revision },
        metrics: [{ name: "mean" }],
      })),
    },
    plan: { name: "plan", steps: [{ solver: ownSolver, params: { mode } }], config: {} },
  };
}

const statuses = { finished: "success", cancelled: "cancelled", failed: "error" } as const;
const errorOf = (message: string) => ({ message, traceback: "", traceback_ansi: "" });
const instantOf = (micros: number | null) => (micros === null ? "" : toIsoInstant(micros));

/** How the run ended, as Inspect's `EvalLog` has it behind the start. */
export function endOf({ status, status_reason, started_at, finished_at }: RunOfDataset) {
  return {
    status: status in statuses ? statuses[status as keyof typeof statuses] : "started",
    error: status === "failed" ? errorOf(status_reason ?? "The run failed.") : null,
    times: { started_at: instantOf(started_at), completed_at: instantOf(finished_at) },
  };
}

/** A name that no reader of zip files takes for a path elsewhere, or for a part of a sample. */
const unsafeId = /\\|(^|\/)\.\.(\/|$)|_epoch_\d+\//;
const stopReasons = new Map(
  Object.entries({ stop: "stop", length: "max_tokens", content_filter: "content_filter" }),
);

/** A prediction as Inspect's `EvalSample`. Its id tells when it was stored: it is a UUIDv7. */
export function sampleOf(
  sample: DatasetSample,
  line: RunExportLine,
  { model, input, scores }: { model: string; input: ReturnType<typeof promptOf>; scores: Scores },
) {
  const { dataset_sample_id: id, trajectory_id, step, tags, next_state } = sample;
  const { prediction, reasoning, details } = line;
  const { prompt_tokens: prompt, completion_tokens: completion } = details.usage;
  const time = details.latency_ms === null ? undefined : details.latency_ms / 1000;
  const endedMs = Number.parseInt(details.id.replace("-", "").slice(0, 12), 16);
  const usage =
    prompt === null && completion === null
      ? undefined
      : {
          input_tokens: prompt ?? 0,
          output_tokens: completion ?? 0,
          total_tokens: (prompt ?? 0) + (completion ?? 0),
        };
  const content = [
    { type: "reasoning", reasoning },
    { type: "text", text: prediction },
  ];
  const message = { role: "assistant", content: reasoning ? content : prediction, source: "generate", model };
  const failure =
    prediction === null ? (line.error_message ?? details.error_category ?? "failed") : undefined;
  const stop_reason = stopReasons.get(details.finish_reason ?? "") ?? "unknown";
  return {
    id: unsafeId.test(id) ? encodeURIComponent(id) : id,
    epoch: line.repeat + 1,
    input: input.map((turn) => ({ ...turn, source: "input" })),
    target: next_state,
    messages: [...input, ...(failure === undefined ? [message] : [])],
    output: {
      model,
      choices: failure === undefined ? [{ message, stop_reason }] : [],
      completion: prediction ?? "",
      ...{ usage, time, error: failure },
    },
    scores,
    metadata: { dataset_sample_id: id, trajectory_id, step, ...(tags && { tags }) },
    model_usage: usage && { [model]: usage },
    started_at: time && new Date(endedMs - time * 1000).toISOString(),
    completed_at: new Date(endedMs).toISOString(),
    ...{ total_time: time, working_time: time, uuid: details.id },
    error: failure === undefined ? undefined : errorOf(failure),
  };
}

const summaryCharacters = 1000;
const begun = (text: string) =>
  text.length > summaryCharacters ? `${text.slice(0, summaryCharacters).toWellFormed()}…` : text;

/** What lists of samples show, as Inspect's `EvalSampleSummary`. */
export function summaryOf({
  input,
  target,
  messages,
  output,
  scores,
  error,
  ...rest
}: ReturnType<typeof sampleOf>) {
  const shown = Object.entries(scores).map(([name, { explanation, ...score }]) => [
    name,
    { ...score, explanation: explanation && begun(explanation) },
  ]);
  return {
    ...rest,
    input: input.map(({ content, ...turn }) => ({ ...turn, content: begun(content) })),
    target: begun(target),
    scores: Object.fromEntries(shown),
    error: error && begun(error.message),
    ...{ completed: true, message_count: messages.length },
  };
}

type Scores = Record<string, { value: number; explanation: string | undefined; metadata: object }>;

/** The scores of a prediction by the names of evaluators; explanations are by the ids of results. */
export function scoresOf(
  run: Pick<RunOfDataset, "evaluators">,
  { verdicts }: RunExportLine,
  explanations: Readonly<Record<string, string>>,
): Scores {
  const scores = run.evaluators.flatMap((evaluator) => {
    const verdict = verdicts.find(
      (one) => one.evaluator === evaluator.id && one.profile_name === evaluator.profile.name,
    );
    const value = verdict && numberOf(verdict);
    if (value === undefined) return [];
    const explanation = explanations[verdict?.evaluation_result_id ?? ""];
    return [[nameOf(run, evaluator), { value, explanation, metadata: { pass: verdict?.pass } }] as const];
  });
  return Object.fromEntries(scores);
}
