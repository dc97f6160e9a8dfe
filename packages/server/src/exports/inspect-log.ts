import { once } from "node:events";
import { promisify } from "node:util";
import type { DatasetSample, RunExportLine } from "@presage/contract";
import ZipStream from "zip-stream";
import { findDataset } from "../datasets/datasets.ts";
import type { Redactor } from "../datasets/traces/redaction/redact.ts";
import type { Requester } from "../platform/storage/store.ts";
import { selectExplanations } from "../runs/run-samples-store.ts";
import { promptOf } from "../runs/runner/missing-work.ts";
import type { FindNeeds } from "../runs/runs.ts";
import { type ExplainedLine, endOf, nameOf, sampleOf, startOf, summaryOf } from "./inspect-documents.ts";
import { type RunOfDataset, readPredicted } from "./predicted.ts";

/** A file within the log. */
type Entry = readonly [name: string, value: object];

const summariesAtOnce = 500;
const pieceBytes = 64 * 1024;

/** A run as a log of Inspect: a zip that is made as it is read, of which names and counts alone are held. */
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

/**
 * The start comes first, since an import needs it to read samples, and what is counted of them last. Summaries are in the journal,
 * some at a time.
 */
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
  // Inspect of a year ago leaves out the last one.
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

/** What the model was asked for one prediction after the other: in free-running mode with what was predicted before. */
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

/** Counts what the log says of all samples. */
function createTotals(run: RunOfDataset, model: string) {
  const means = run.evaluators.map((evaluator) => ({ name: nameOf(run, evaluator), sum: 0, scored: 0 }));
  const usage = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
  let samples = 0;
  let completed = 0;
  return {
    /** The repeats of one sample, of which the mean counts, as in Inspect and in reports. */
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
          ...{ name, scorer: name, reducer: "mean", params: {} },
          ...{ scored_samples: scored, unscored_samples: samples - scored },
          metrics: scored === 0 ? {} : { mean: { name: "mean", value: sum / scored, params: {} } },
        })),
      },
      model_usage: usage.total_tokens === 0 ? {} : { [model]: usage },
    }),
  };
}
