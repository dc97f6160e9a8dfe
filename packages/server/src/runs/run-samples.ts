import type { RunExportLine, RunSample } from "@presage/contract";
import { conflict } from "../platform/errors.ts";
import { shownTokens } from "../platform/storage/answer-columns.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Requester } from "../platform/storage/store.ts";
import type { Run, RunDataset } from "./run.ts";
import {
  datasetOrder,
  type OrderedPosition,
  type RunPosition,
  type RunSampleFilter,
  type RunSamplePage,
  type RunSampleRow,
  selectExcerpts,
  selectRunSamples,
  selectRunTexts,
  selectRunVerdicts,
} from "./run-samples-store.ts";
import { type FindNeeds, refuseDeleted } from "./runs.ts";

/** Few, since their texts may be long. */
const exportedAtOnce = 50;

/** One page of a run's predictions with their verdicts, and the place after which the next one starts. */
export async function listRunSamples(
  services: FindNeeds,
  requester: Requester,
  run: Run,
  filter: RunSampleFilter,
  page: RunSamplePage,
  textLimit: number | undefined,
): Promise<{ samples: RunSample[]; next: OrderedPosition | undefined }> {
  const { limit, order } = page;
  const { store } = services;
  const reader = order === "position" ? store.briefReader(requester) : store.reader(requester);
  const found = await selectRunSamples(reader, withDataset(run), filter, { ...page, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const judged = await withVerdicts(reader, run, rows);
  const samples = textLimit === undefined ? judged : await withExcerpts(reader, judged, textLimit);
  await refuseDeleted(services, requester, [run]);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return {
    samples,
    next: last && { position: last.position, repeat: last.repeat, value: last.ordered_by ?? undefined },
  };
}

async function withExcerpts(
  reader: Database,
  samples: readonly RunSample[],
  textLimit: number,
): Promise<RunSample[]> {
  const ids = samples.map(({ prediction }) => prediction.id);
  const excerpts = await selectExcerpts(reader, ids, textLimit);
  return samples.map(({ prediction, ...sample }) => ({
    ...sample,
    prediction: { ...prediction, excerpt: excerpts.get(prediction.id) ?? null },
  }));
}

/** All predictions of a run, or those of a trajectory, with their texts and verdicts, a piece at a time, in the order of the dataset. */
export async function* readPredictions(
  services: FindNeeds,
  requester: Requester,
  run: Run & { dataset: RunDataset },
  filter: RunSampleFilter = {},
): AsyncGenerator<RunExportLine[], void> {
  const reader = services.store.reader(requester);
  for (let after: OrderedPosition | undefined; ; ) {
    const page = { ...datasetOrder, limit: exportedAtOnce, after };
    const rows = await selectRunSamples(reader, run, filter, page);
    const last = rows.at(-1);
    if (last === undefined) return await refuseDeleted(services, requester, [run]);
    const texts = await selectRunTexts(
      reader,
      rows.map(({ prediction_id }) => prediction_id),
    );
    const samples = await withVerdicts(reader, run, rows);
    yield samples.map(({ prediction, ...sample }) => {
      const { output = null, reasoning = null, error_message = null } = texts.get(prediction.id) ?? {};
      return { ...sample, prediction: output, reasoning, error_message, details: prediction };
    });
    after = { ...last, value: undefined };
  }
}

async function withVerdicts(
  reader: Database,
  run: Pick<Run, "id" | "evaluators">,
  rows: readonly RunSampleRow[],
): Promise<RunSample[]> {
  const positions = [...new Set(rows.map(({ position }) => position))];
  const keyOf = ({ position, repeat }: RunPosition) => `${position}/${repeat}`;
  const verdicts = Map.groupBy(await selectRunVerdicts(reader, run, positions), keyOf);
  return rows.map((row) => ({
    dataset_sample_id: row.sample_id,
    trajectory_id: row.trajectory_id,
    step: row.step,
    repeat: row.repeat,
    changes: row.changes,
    verb: row.verb,
    confidence: row.confidence,
    prediction: {
      id: row.prediction_id,
      status: row.status,
      error_category: row.error_category,
      finish_reason: row.finish_reason,
      usage: shownTokens(
        { prompt_tokens: row.prompt_tokens, completion_tokens: row.completion_tokens },
        row.latency_micros !== null,
      ),
      latency_ms: row.latency_micros === null ? null : row.latency_micros / 1000,
    },
    verdicts: (verdicts.get(keyOf(row)) ?? []).map((verdict) => ({
      evaluator: run.evaluators[verdict.evaluator]?.id ?? "",
      profile_name: run.evaluators[verdict.evaluator]?.profile.name ?? "",
      status: verdict.status,
      pass: verdict.pass === null ? null : verdict.pass === 1,
      score: verdict.score,
      evaluation_result_id: verdict.result_id === null ? null : String(verdict.result_id),
    })),
  }));
}

/** Throws if the run has no dataset. */
export function withDataset(run: Run): Run & { dataset: RunDataset } {
  const { dataset } = run;
  if (dataset === undefined)
    throw conflict("The run's target is external: it has results, and no predictions.");
  return { ...run, dataset };
}
