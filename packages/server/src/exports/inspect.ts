import { once } from "node:events";
import { promisify } from "node:util";
import type { DatasetSample, RunExportLine } from "@presage/contract";
import ZipStream from "zip-stream";
import { findDataset } from "../datasets/datasets.ts";
import { ownSolver } from "../datasets/traces/layouts/agents/inspect.ts";
import type { Redactor } from "../datasets/traces/redaction/redact.ts";
import { toIsoInstant } from "../platform/storage/columns.ts";
import type { Requester } from "../platform/storage/store.ts";
import { shortened } from "../platform/words.ts";
import { nameOf as nameOfTarget, type RunEvaluator, toRun } from "../runs/run.ts";
import { selectExplanations } from "../runs/run-samples-store.ts";
import { promptOf } from "../runs/runner/steps.ts";
import type { FindNeeds } from "../runs/runs.ts";
import { numberOf, type RunOfDataset, readPredicted } from "./predicted.ts";

/** A file within the log. */
type Entry = readonly [name: string, value: object];

const summariesAtOnce = 500;
const pieceBytes = 64 * 1024;

/** A run as an Inspect log: a zip that is produced while it is read, with only names and counts held in memory. */
export async function* inspectLog(
  services: FindNeeds,
  requester: Requester,
  run: RunOfDataset,
  redactor: Redactor,
): AsyncGenerator<Uint8Array, void> {
  const made: Uint8Array[] = [];
  let bytes = 0;
  const write = (piece: Uint8Array) => {
    made.push(piece);
    bytes += piece.length;
  };
  const zip = new ZipStream();
  zip.on("data", write);
  const add = promisify(zip.entry.bind(zip));
  const date = new Date(run.created_at / 1000);
  for await (const [name, value] of entriesOf(services, requester, run, redactor)) {
    await add(JSON.stringify(value), { name, date });
    if (bytes < pieceBytes) continue;
    yield Buffer.concat(made.splice(0));
    bytes = 0;
  }
  zip.finish();
  await once(zip, "end");
  yield Buffer.concat(made);
}

/** The start comes first, since an import needs it to read samples; the totals come last. Summaries go to the journal in batches. */
async function* entriesOf(
  services: FindNeeds,
  requester: Requester,
  run: RunOfDataset,
  redactor: Redactor,
): AsyncGenerator<Entry, void> {
  const { name } = await findDataset(services, requester, run.dataset.datasetId);
  const shown = redactor.redactValue(run);
  const start = startOf(shown, redactor.redact(name));
  yield ["_journal/start.json", start];
  const { model } = start.eval;
  const totals = createTotals(shown, model);
  const promptFor = createPrompts(run);
  let summaries: object[] = [];
  let files = 0;
  for await (const { sample: read, predictions } of readPredicted(services, requester, [run])) {
    const explained = await withExplanations(services, requester, run, predictions.flat());
    const { sample, lines } = redactor.redactValue({ sample: read, lines: explained });
    const documents = lines.map((line) => sampleOf(shown, model, sample, line, promptFor(sample, line)));
    totals.add(documents);
    for (const document of documents) yield [`samples/${document.id}_epoch_${document.epoch}.json`, document];
    summaries.push(...documents.map(summaryOf));
    if (summaries.length < summariesAtOnce) continue;
    yield [`_journal/summaries/${++files}.json`, summaries];
    summaries = [];
  }
  yield [`_journal/summaries/${++files}.json`, summaries];
  // Versions of Inspect from a year ago leave out the last file.
  yield [`_journal/summaries/${++files}.json`, []];
  const { times, ...end } = endOf(shown);
  const { results, model_usage } = totals.end();
  yield ["header.json", { ...start, ...end, results, stats: { ...times, model_usage } }];
}

async function withExplanations(
  { store }: FindNeeds,
  requester: Requester,
  { evaluators }: RunOfDataset,
  lines: RunExportLine[],
): Promise<ExplainedLine[]> {
  if (evaluators.every(({ explainStrategy }) => explainStrategy === "never")) return lines;
  const ids = lines.flatMap(({ verdicts }) => verdicts.flatMap((one) => one.evaluation_result_id ?? []));
  const explanations = await selectExplanations(store.reader(requester), ids);
  return lines.map((line) => ({
    ...line,
    verdicts: line.verdicts.map((one) => ({
      ...one,
      explanation: explanations.get(one.evaluation_result_id ?? ""),
    })),
  }));
}

/** The prompt of each prediction; in free-running mode with earlier predictions in place of earlier states. */
function createPrompts({ mode }: RunOfDataset) {
  let trajectory: string | undefined;
  let earlier: string[][] = [];
  return (sample: DatasetSample, { repeat, prediction }: RunExportLine) => {
    if (sample.trajectory_id !== trajectory) earlier = [];
    trajectory = sample.trajectory_id;
    const told = earlier[repeat] ?? [];
    earlier[repeat] = told;
    const input = promptOf(sample, told);
    if (mode === "free-running" && prediction !== null) told.push(prediction);
    return input;
  };
}

/** Adds up the log's totals over all samples. */
function createTotals(run: RunOfDataset, model: string) {
  const means = run.evaluators.map((evaluator) => ({ name: nameOf(run, evaluator), sum: 0, scored: 0 }));
  const usage = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
  let samples = 0;
  let completed = 0;
  return {
    /** Adds the repeats of one sample. Their mean counts, as in Inspect and in reports. */
    add(repeats: readonly ReturnType<typeof sampleOf>[]): void {
      samples += 1;
      completed += repeats.filter(({ error }) => error === undefined).length;
      for (const { output } of repeats)
        for (const count of ["input_tokens", "output_tokens", "total_tokens"] as const)
          usage[count] += output.usage?.[count] ?? 0;
      for (const mean of means) {
        const values = repeats.flatMap(({ scores }) => scores[mean.name]?.value ?? []);
        if (values.length === 0) continue;
        mean.sum += values.reduce((sum, value) => sum + value, 0) / values.length;
        mean.scored += 1;
      }
    },
    end: () => ({
      results: {
        total_samples: run.counts.samples,
        completed_samples: completed,
        scores: means.map(({ name, sum, scored }) => ({
          name,
          scorer: name,
          reducer: "mean",
          params: {},
          scored_samples: scored,
          unscored_samples: samples - scored,
          metrics: scored === 0 ? {} : { mean: { name: "mean", value: sum / scored, params: {} } },
        })),
      },
      model_usage: usage.total_tokens === 0 ? {} : { [model]: usage },
    }),
  };
}

type Usage = RunExportLine["details"]["usage"];

/** The evaluator's name in the log. */
function nameOf({ evaluators }: RunOfDataset, { id, profile }: RunEvaluator): string {
  return evaluators.filter((one) => one.id === id).length > 1 ? `${id}/${profile.name}` : id;
}

/** The start of the log, as Inspect's `LogStart`. */
function startOf(run: RunOfDataset, dataset: string) {
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

/** How the run ended: the fields that Inspect's `EvalLog` has after the start. */
function endOf({ status, status_reason, started_at, finished_at }: RunOfDataset) {
  return {
    status: statuses.get(status) ?? "started",
    error: status === "failed" ? errorOf(status_reason ?? "The run failed.") : null,
    times: { started_at: instantOf(started_at), completed_at: instantOf(finished_at) },
  };
}

/** A prediction with its verdicts' explanations. */
type ExplainedLine = Omit<RunExportLine, "verdicts"> & {
  verdicts: (RunExportLine["verdicts"][number] & { explanation?: string | undefined })[];
};

/** Parts of an id that zip readers would treat as a path elsewhere, or Inspect as part of a sample's name. */
const unsafePath = /\\|^\/|\/\/|(^|\/)\.\.(\/|$)|_epoch_\d+\//;
const stopReasons = new Map(
  Object.entries({ stop: "stop", length: "max_tokens", content_filter: "content_filter" }),
);

/** A prediction as Inspect's `EvalSample`. Its id, a UUIDv7, says when it was stored. */
function sampleOf(
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
      model,
      usage,
      time,
      error: failure,
      choices: failure === undefined ? [{ message, stop_reason }] : [],
    },
    scores: scoresOf(run, line),
    metadata: { dataset_sample_id, trajectory_id, step, ...(tags && { tags }) },
    model_usage: usage && { [model]: usage },
    started_at: time && new Date(endedMs - time * 1000).toISOString(),
    completed_at: new Date(endedMs).toISOString(),
    total_time: time,
    working_time: time,
    uuid: details.id,
    error: failure === undefined ? undefined : errorOf(failure),
  };
}

const textPart = (text: string | null) => ({ type: "text", text });

function usageOf({ prompt_tokens: prompt, completion_tokens: completion }: Usage) {
  if (prompt === null && completion === null) return undefined;
  const [input_tokens, output_tokens] = [prompt ?? 0, completion ?? 0];
  return { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
}

/** The scores of a prediction by evaluator name. */
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
  return typeof value === "string" ? shortened(value, begunCharacters) : value;
}

/** What lists of samples show, as Inspect's `EvalSampleSummary`: the beginnings of the texts. */
function summaryOf({ messages, output: _, error, ...rest }: ReturnType<typeof sampleOf>): object {
  const summary = { ...rest, error: error?.message, completed: true, message_count: messages.length };
  return JSON.parse(JSON.stringify(summary, (_, value) => begun(value)));
}
