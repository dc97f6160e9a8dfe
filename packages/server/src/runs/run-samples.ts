import {
  defaultRunSampleLimit,
  isTrueWord,
  type RunExportLine,
  RunPath,
  RunPredictionLine,
  type RunSample,
  RunSampleListQuery,
  RunSampleListResponse,
  RunUpload,
} from "@presage/contract";
import type { UploadLimits } from "../datasets/upload/lines.ts";
import { externalPrefix } from "../evaluators/outcome.ts";
import { errorResponse, noSuch, page, response } from "../http/describe.ts";
import { reserveStored } from "../http/memory.ts";
import { receiveUpload } from "../http/receive-upload.ts";
import { reply, route } from "../http/route.ts";
import { InvalidRequestError, missing, valueError } from "../http/validate.ts";
import { conflict } from "../platform/errors.ts";
import type { Holder } from "../platform/limits/memory.ts";
import { shownTokens } from "../platform/storage/answer-columns.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Requester } from "../platform/storage/store.ts";
import { toRunVerdict } from "../predictions/stored-rows.ts";
import examples from "./examples.json" with { type: "json" };
import type { PredictionsUploads } from "./imported.ts";
import {
  type EvaluatorNames,
  isClientRun,
  type Run,
  type RunDataset,
  type RunQueue,
  toEvaluatorNames,
} from "./run.ts";
import {
  datasetOrder,
  type OrderedPosition,
  type RunPosition,
  type RunSampleFilter,
  type RunSamplePage,
  type RunSampleRow,
  selectExcerpts,
  selectNeighbour,
  selectRunSamples,
  selectRunTexts,
  selectRunVerdicts,
  selectSampleBeginnings,
} from "./run-samples-store.ts";
import { type FindNeeds, findRun, refuseDeleted } from "./runs.ts";

interface UploadServices {
  datasets: UploadLimits & { uploads: PredictionsUploads };
  runs: RunQueue;
}

export const externalTarget = {
  "409": errorResponse("The run's target is external", "The run's target is external."),
};

const listSamples = route("GET", "/v1/runs/:id/samples", {
  needs: "read",
  id: "listRunSamples",
  summary: "List a run's predictions",
  description:
    "Returns the predictions of a run with the verdicts of all its evaluators, page by page: in the order of the dataset, or sorted by a figure.",
  params: RunPath,
  query: RunSampleListQuery,
  responses: {
    "200": response("The predictions, without their texts", RunSampleListResponse, page(examples.sample)),
    ...noSuch("run"),
    ...externalTarget,
  },
  async handle(services: FindNeeds, { call, requester, params, query }) {
    const run = await findRun(services, requester, params.id);
    const filter = {
      evaluator: readFilterEvaluator(query, run),
      pass: query.pass === undefined ? undefined : isTrueWord(query.pass),
      status: query.status,
      trajectoryId: query.trajectory_id,
      sampleId: query.dataset_sample_id,
      step: query.step === undefined ? undefined : Number(query.step),
      isChanged: query.changed === undefined ? undefined : isTrueWord(query.changed),
    };
    const page = {
      order: query.order ?? "position",
      evaluator: readOrderEvaluator(query, run),
      limit: Number(query.limit ?? defaultRunSampleLimit),
      after: query.after === undefined ? undefined : readCursor(query.after),
    };
    const textLimit = query.text_limit === undefined ? undefined : Number(query.text_limit);
    const texts = textLimit === undefined ? undefined : { characters: textLimit, holder: call.exchange };
    const { samples, next } = await listRunSamples(services, requester, run, filter, page, texts);
    const trajectory = await findNeighbours(services, requester, run, filter);
    return reply(200, { data: samples, next: next === undefined ? null : toCursor(next), ...trajectory });
  },
});

const uploadPredictions = route("POST", "/v1/runs/:id/predictions", {
  needs: "evaluate",
  id: "uploadRunPredictions",
  summary: "Upload the predictions of a run",
  description:
    "For a run whose target is imported: stores its predictions as they arrive, and then starts it. They are uploaded once. If a line is invalid, none is stored, and they can be uploaded again. Samples without a line count as failed.",
  params: RunPath,
  more: {
    requestBody: {
      required: true,
      description: "One JSON object per line; gzip is allowed.",
      content: {
        "application/x-ndjson": {
          schema: RunPredictionLine,
          example: { dataset_sample_id: "kitchen-1/0", prediction: "The fridge is open." },
        },
      },
    },
  },
  responses: {
    "200": response("They are stored, and the run has started", RunUpload, { predictions: 394 }),
    ...noSuch("run"),
    "409": errorResponse(
      "The run makes its predictions itself, has them already, was cancelled or deleted meanwhile, or another upload is in progress",
      "The run makes its predictions itself; none can be uploaded.",
    ),
    "413": errorResponse(
      "The upload is larger than PRESAGE_MAX_DATASET_BYTES, or 200 times as long as its gzip",
      "The upload is larger than 1073741824 bytes (PRESAGE_MAX_DATASET_BYTES), decompressed.",
    ),
    "507": errorResponse(
      "The disk of the database has less room than PRESAGE_MIN_FREE_DISK_BYTES",
      "The database's disk has 734003200 bytes free, and uploads and runs leave 1073741824 (PRESAGE_MIN_FREE_DISK_BYTES).",
    ),
  },
  async handle({ datasets, runs }: UploadServices, { call, requester, params }) {
    const { accountId, actor, signal } = requester;
    const { uploads, maxBytes, floor } = datasets;
    const stored = await receiveUpload(call, (body, { isGzip }) =>
      uploads.uploadPredictions(
        { accountId, actor, runId: params.id, isGzip, maxBytes, floor },
        body,
        signal,
      ),
    );
    runs.wake();
    return reply(200, stored);
  },
});

/** Reads of a run's predictions, and their upload. */
export const runSampleRoutes = [listSamples, uploadPredictions];

/** A cursor, checked by its schema, and the place that it stands for. */
function readCursor(cursor: string): OrderedPosition {
  const [place = "", value] = cursor.split("_");
  const [position = 0, repeat = 0] = place.split(".").map(Number);
  return { position, repeat, value: value === undefined ? undefined : Number(value) };
}

function toCursor({ position, repeat, value }: OrderedPosition): string {
  return value === undefined ? `${position}.${repeat}` : `${position}.${repeat}_${value}`;
}

/** The index of the evaluator that a query names. */
function readFilterEvaluator(query: RunSampleListQuery, run: Run) {
  if (query.evaluator !== undefined) return ownEvaluatorNamed(run, query).index;
  if (query.pass === undefined) return undefined;
  throw new InvalidRequestError([missing(["query", "evaluator"], {})]);
}

function readOrderEvaluator(query: RunSampleListQuery, run: Run): number | undefined {
  if (query.order !== "score" && query.order !== "-score") return undefined;
  const { order_evaluator: evaluator, order_profile_name: profile_name } = query;
  if (evaluator !== undefined)
    return ownEvaluatorNamed(run, { evaluator, profile_name }, { field: "order_evaluator" }).index;
  if (query.evaluator !== undefined) return ownEvaluatorNamed(run, query).index;
  throw new InvalidRequestError([missing(["query", "order_evaluator"], {})]);
}

/** An evaluator as a request names it. */
type Named = Pick<RunSampleListQuery, "evaluator" | "profile_name">;

/** An evaluator of a run as the API names it, and its index among those of a run that Presage makes. */
export interface FoundEvaluator {
  evaluator: string;
  profile_name: string | null;
  index: number;
}

interface NamedAt {
  where?: "query" | "body";
  field?: string;
  except?: FoundEvaluator;
}

/** The evaluator of a run that a request names; otherwise the first, or the first other than a given one. */
export function evaluatorNamed(run: Run, named: Named, at?: NamedAt): FoundEvaluator {
  if (!isClientRun(run)) return ownEvaluatorNamed(run, named, at);
  const { evaluator, profile_name = null, index } = findNamed(run.clientEvaluators ?? [], named, at);
  return { evaluator, profile_name, index };
}

/** The same for a run that Presage makes, including the evaluator itself. */
export function ownEvaluatorNamed({ evaluators }: Run, named: Named, at?: NamedAt) {
  const all = evaluators.map((own) => ({ ...toEvaluatorNames(own), family: own.family, own }));
  return findNamed(all, named, at);
}

function findNamed<One extends EvaluatorNames & { family?: string }>(
  all: readonly One[],
  { evaluator, profile_name }: Named,
  { where = "query", field = "evaluator", except }: NamedAt = {},
): One & { index: number } {
  const index = all.findIndex(
    (one, at) =>
      at !== except?.index &&
      (evaluator === undefined ||
        [one.evaluator, one.family, one.evaluator.replace(externalPrefix, "")].includes(evaluator)) &&
      (profile_name === undefined || one.profile_name === profile_name),
  );
  const one = all[index];
  if (one !== undefined) return { ...one, index };
  const other = except === undefined ? "" : "other ";
  const names = [evaluator, profile_name].filter((name) => name !== undefined);
  const wanted = names.length === 0 ? "" : ` ${names.join("=")}`;
  const has = all
    .map((one) => [one.evaluator, ...(one.profile_name === null ? [] : [one.profile_name])].join("="))
    .join(", ");
  const message = `The run has no ${other}evaluator${wanted}; it has ${has || "none"}`;
  throw new InvalidRequestError([valueError([where, field], message, evaluator ?? null)]);
}

/** Few, because their texts may be long. */
const exportedAtOnce = 50;

/** How many characters of each text to read, and who holds them. */
interface WantedTexts {
  characters: number;
  holder: Holder;
}

/** The action, what was predicted, and what was recorded. */
const textsOfOne = 3;
const bytesPerCharacter = 2;

/** One page of a run's predictions with their verdicts, and the place after which the next one starts. */
export async function listRunSamples(
  services: FindNeeds,
  requester: Requester,
  run: Run,
  filter: RunSampleFilter,
  page: RunSamplePage,
  texts?: WantedTexts,
): Promise<{ samples: RunSample[]; next: OrderedPosition | undefined }> {
  const { limit, order } = page;
  const { store } = services;
  const reader = order === "position" ? store.briefReader(requester) : store.reader(requester);
  const found = await selectRunSamples(reader, withDataset(run), filter, { ...page, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const judged = await withVerdicts(reader, run, rows);
  const samples =
    texts === undefined ? judged : await withBeginnings(reader, withDataset(run), rows, judged, texts);
  await refuseDeleted(services, requester, [run]);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return {
    samples,
    next: last && { position: last.position, repeat: last.repeat, value: last.ordered_by ?? undefined },
  };
}

/** The trajectories around the one that is listed. */
async function findNeighbours(
  { store }: FindNeeds,
  requester: Requester,
  run: Run,
  { trajectoryId }: RunSampleFilter,
): Promise<Pick<RunSampleListResponse, "trajectory">> {
  if (trajectoryId === undefined) return {};
  const reader = store.briefReader(requester);
  const find = (isBefore: boolean) => selectNeighbour(reader, withDataset(run), trajectoryId, isBefore);
  const [previous, next] = await Promise.all([find(true), find(false)]);
  return { trajectory: { previous, next } };
}

/** Adds the beginnings of the texts, in two queries. */
async function withBeginnings(
  reader: Database,
  { dataset }: { dataset: RunDataset },
  rows: readonly RunSampleRow[],
  samples: readonly RunSample[],
  { characters, holder }: WantedTexts,
): Promise<RunSample[]> {
  reserveStored(holder, samples.length * characters * textsOfOne * bytesPerCharacter);
  const ids = samples.map(({ prediction }) => prediction.id);
  const excerpts = await selectExcerpts(reader, ids, characters);
  const positions = [...new Set(rows.map(({ position }) => position))];
  const beginnings = await selectSampleBeginnings(
    reader,
    dataset.revisionId,
    { position: positions },
    characters,
  );
  const recorded = new Map(beginnings.map((sample) => [sample.position, sample]));
  return samples.map(({ prediction, ...sample }, index) => {
    const { action = null, expected = null } = recorded.get(rows[index]?.position ?? 0) ?? {};
    const excerpt = excerpts.get(prediction.id) ?? null;
    return { ...sample, action, expected, prediction: { ...prediction, excerpt } };
  });
}

/** All predictions of a run, or those of a trajectory, with their texts and verdicts, piece by piece in the order of the dataset. */
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
    if (rows.length < exportedAtOnce) return await refuseDeleted(services, requester, [run]);
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
    verdicts: (verdicts.get(keyOf(row)) ?? []).map((verdict) => toRunVerdict(run.evaluators, verdict)),
  }));
}

export function withDataset(run: Run): Run & { dataset: RunDataset } {
  const { dataset } = run;
  if (dataset === undefined)
    throw conflict("The run's target is external: it has results but no predictions.");
  return { ...run, dataset };
}
