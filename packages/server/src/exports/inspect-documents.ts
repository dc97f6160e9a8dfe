import type { DatasetSample, RunExportLine } from "@presage/contract";
import { ownSolver } from "../datasets/traces/layouts/inspect.ts";
import { toIsoInstant } from "../platform/storage/columns.ts";
import { nameOf as nameOfTarget, type RunEvaluator, toRun } from "../runs/run.ts";
import type { promptOf } from "../runs/runner/missing-work.ts";
import { numberOf, type RunOfDataset } from "./predicted.ts";

type Usage = RunExportLine["details"]["usage"];

/** The evaluator's name in the log. */
export function nameOf({ evaluators }: RunOfDataset, { id, profile }: RunEvaluator): string {
  return evaluators.filter((one) => one.id === id).length > 1 ? `${id}/${profile.name}` : id;
}

/** What stands at the log's beginning, as Inspect's `LogStart`. */
export function startOf(run: RunOfDataset, dataset: string) {
  const { target, provenance, repeats } = run;
  const { name, mode, target: shownTarget, params, tags, notes } = toRun(run);
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
      model: provenance.models[0] ?? nameOfTarget(target),
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

const statuses = new Map(Object.entries({ finished: "success", cancelled: "cancelled", failed: "error" }));
const errorOf = (message: string) => ({ message, traceback: "", traceback_ansi: "" });
const instantOf = (micros: number | null) => (micros === null ? "" : toIsoInstant(micros));

/** How the run ended, as Inspect's `EvalLog` has it behind the start. */
export function endOf({ status, status_reason, started_at, finished_at }: RunOfDataset) {
  return {
    status: statuses.get(status) ?? "started",
    error: status === "failed" ? errorOf(status_reason ?? "The run failed.") : null,
    times: { started_at: instantOf(started_at), completed_at: instantOf(finished_at) },
  };
}

/** A prediction with what is written beside it. */
export type ExplainedLine = Omit<RunExportLine, "verdicts"> & {
  verdicts: (RunExportLine["verdicts"][number] & { explanation?: string | undefined })[];
};

/** Of an id: what readers of zip files take for a path elsewhere, or Inspect for a part of a sample. */
const unsafePath = /\\|^\/|\/\/|(^|\/)\.\.(\/|$)|_epoch_\d+\//;
const stopReasons = new Map(
  Object.entries({ stop: "stop", length: "max_tokens", content_filter: "content_filter" }),
);

/** A prediction as Inspect's `EvalSample`. When it was stored is told by its id, a UUIDv7. */
export function sampleOf(
  run: RunOfDataset,
  model: string,
  { dataset_sample_id, trajectory_id, step, tags, next_state }: DatasetSample,
  line: ExplainedLine,
  input: ReturnType<typeof promptOf>,
) {
  const { prediction, reasoning, details } = line;
  const content = reasoning ? [{ type: "reasoning", reasoning }, textPart(prediction)] : prediction;
  const message = { role: "assistant", content, source: "generate", model };
  const failure =
    prediction === null ? (line.error_message ?? details.error_category ?? "failed") : undefined;
  const stop_reason = stopReasons.get(details.finish_reason ?? "") ?? "unknown";
  const usage = usageOf(details.usage);
  const time = details.latency_ms === null ? undefined : details.latency_ms / 1000;
  const endedMs = Number.parseInt(details.id.replace("-", "").slice(0, 12), 16);
  return {
    id: unsafePath.test(dataset_sample_id) ? encodeURIComponent(dataset_sample_id) : dataset_sample_id,
    epoch: line.repeat + 1,
    input,
    target: next_state,
    messages: failure === undefined ? [...input, message] : input,
    output: {
      ...{ model, usage, time, error: failure },
      choices: failure === undefined ? [{ message, stop_reason }] : [],
    },
    scores: scoresOf(run, line),
    metadata: { dataset_sample_id, trajectory_id, step, ...(tags && { tags }) },
    model_usage: usage && { [model]: usage },
    started_at: time && new Date(endedMs - time * 1000).toISOString(),
    completed_at: new Date(endedMs).toISOString(),
    ...{ total_time: time, working_time: time, uuid: details.id },
    error: failure === undefined ? undefined : errorOf(failure),
  };
}

const textPart = (text: string | null) => ({ type: "text", text });

function usageOf({ prompt_tokens: prompt, completion_tokens: completion }: Usage) {
  if (prompt === null && completion === null) return undefined;
  const [input_tokens, output_tokens] = [prompt ?? 0, completion ?? 0];
  return { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
}

/** The scores of a prediction by the names of evaluators. */
function scoresOf(run: RunOfDataset, { verdicts, prediction }: ExplainedLine) {
  const scores = run.evaluators.flatMap((evaluator) => {
    const { id, profile } = evaluator;
    const verdict = verdicts.find((one) => one.evaluator === id && one.profile_name === profile.name);
    const value = verdict && numberOf(verdict);
    if (verdict === undefined || value === undefined) return [];
    const { explanation, pass } = verdict;
    const answer = begun(prediction ?? "");
    return [[nameOf(run, evaluator), { value, answer, explanation, metadata: { pass } }] as const];
  });
  return Object.fromEntries(scores);
}

const begunCharacters = 1000;

function begun<Value>(value: Value): Value | string {
  if (typeof value !== "string" || value.length <= begunCharacters) return value;
  return `${value.slice(0, begunCharacters).toWellFormed()}…`;
}

/** What lists of samples show, as Inspect's `EvalSampleSummary`: the beginnings of texts. */
export function summaryOf({ messages, output: _, error, ...rest }: ReturnType<typeof sampleOf>): object {
  const summary = { ...rest, error: error?.message, completed: true, message_count: messages.length };
  return JSON.parse(JSON.stringify(summary, (_, value) => begun(value)));
}
