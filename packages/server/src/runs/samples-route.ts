import {
  defaultRunSampleLimit,
  isTrueWord,
  RunPath,
  type RunSample,
  RunSampleListQuery,
  type RunSampleListResponse,
  type RunUpload,
} from "@presage/contract";
import type { Services as RouteServices } from "../app/services.ts";
import { keepOpenForEach, requesterOf } from "../http/call.ts";
import { reservePiece } from "../http/memory.ts";
import { receiveUpload } from "../http/receive-upload.ts";
import { readKnownQuery, readPath } from "../http/request.ts";
import { logBrokenResponse, streamTexts } from "../http/response.ts";
import { type Route, withCaller } from "../http/route.ts";
import { InvalidRequestError, missing, valueError } from "../http/validate.ts";
import { ServiceError } from "../platform/errors.ts";
import { shownTokens } from "../platform/storage/answer-columns.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Requester } from "../platform/storage/store.ts";
import type { EvaluationServices } from "../results/evaluation-services.ts";
import { findRun, refuseDeleted } from "./find-run.ts";
import type { Run, RunDataset } from "./run.ts";
import {
  inPlace,
  type OrderedPlace,
  type RunPlace,
  type RunSampleFilter,
  type RunSamplePage,
  type RunSampleRow,
  selectExcerpts,
  selectRunSamples,
  selectRunTexts,
  selectRunVerdicts,
} from "./run-samples-store.ts";

type Services = Pick<EvaluationServices, "store" | "externalCounts">;

/** Few, since their texts may be long. */
const exportedAtOnce = 50;

/** One page of a run's predictions with their verdicts, and the place after which the next one starts. */
export async function listRunSamples(
  services: Services,
  requester: Requester,
  run: Run,
  filter: RunSampleFilter,
  page: RunSamplePage,
  textLimit: number | undefined,
): Promise<{ samples: RunSample[]; next: OrderedPlace | undefined }> {
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

/** All predictions of a run with their texts and verdicts, as JSON lines, a piece at a time. */
export async function exportRun(
  services: Services,
  requester: Requester,
  id: string,
): Promise<AsyncGenerator<string, void>> {
  const run = withDataset(await findRun(services, requester, id));
  return exportLines(services, requester, run);
}

async function* exportLines(
  services: Services,
  requester: Requester,
  run: Run & { dataset: RunDataset },
): AsyncGenerator<string, void> {
  const reader = services.store.reader(requester);
  for (let after: OrderedPlace | undefined; ; ) {
    const rows = await selectRunSamples(reader, run, {}, { ...inPlace, limit: exportedAtOnce, after });
    const last = rows.at(-1);
    if (last === undefined) return await refuseDeleted(services, requester, [run]);
    const texts = await selectRunTexts(
      reader,
      rows.map(({ prediction_id }) => prediction_id),
    );
    const samples = await withVerdicts(reader, run, rows);
    yield samples
      .map(({ prediction, ...sample }) => {
        const { output = null, ...rest } = texts.get(prediction.id) ?? {};
        return `${JSON.stringify({ ...sample, prediction: output, ...rest, details: prediction })}\n`;
      })
      .join("");
    after = { ...last, value: undefined };
  }
}

async function withVerdicts(
  reader: Database,
  run: Pick<Run, "id" | "evaluators">,
  rows: readonly RunSampleRow[],
): Promise<RunSample[]> {
  const positions = [...new Set(rows.map(({ position }) => position))];
  const keyOf = ({ position, repeat }: RunPlace) => `${position}/${repeat}`;
  const verdicts = Map.groupBy(await selectRunVerdicts(reader, run, positions), keyOf);
  return rows.map((row) => ({
    dataset_sample_id: row.sample_id,
    trajectory_id: row.trajectory_id,
    step: row.step,
    repeat: row.repeat,
    changes: row.changes,
    verb: row.verb,
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

function withDataset(run: Run): Run & { dataset: RunDataset } {
  const { dataset } = run;
  if (dataset === undefined)
    throw new ServiceError("conflict", "The run's target is external: it has results, and no predictions.");
  return { ...run, dataset };
}

/** Reads of a run's predictions. */
export function runSampleRoutes(services: RouteServices, path: string): Route[] {
  const { evaluation } = services;
  return [
    withCaller("GET", `${path}/:id/samples`, "read", async (call) => {
      const query = readKnownQuery(call, RunSampleListQuery);
      const run = await findRun(evaluation, requesterOf(call), readPath(call, RunPath).id);
      const filter = {
        evaluator: readFilterEvaluator(query, run),
        pass: query.pass === undefined ? undefined : isTrueWord(query.pass),
        status: query.status,
        trajectoryId: query.trajectory_id,
        sampleId: query.dataset_sample_id,
        step: query.step === undefined ? undefined : Number(query.step),
        isChanged: query.changed === undefined ? undefined : isTrueWord(query.changed),
      };
      const order = query.order ?? "position";
      const page = {
        order,
        evaluator: readOrderEvaluator(query, run),
        limit: Number(query.limit ?? defaultRunSampleLimit),
        after: query.after === undefined ? undefined : readCursor(query.after),
      };
      const { samples, next } = await listRunSamples(
        evaluation,
        requesterOf(call),
        run,
        filter,
        page,
        query.text_limit === undefined ? undefined : Number(query.text_limit),
      );
      const response: RunSampleListResponse = {
        data: samples,
        next: next === undefined ? null : toCursor(next),
      };
      return Response.json(response);
    }),
    withCaller("POST", `${path}/:id/predictions`, "evaluate", async (call) => {
      const { id: runId } = readPath(call, RunPath);
      const { uploads, maxBytes, floor } = evaluation.datasets;
      const { accountId, actor } = requesterOf(call);
      const response: RunUpload = await receiveUpload(call, (body, { isGzip }) =>
        uploads.uploadPredictions(
          { accountId, actor, runId, isGzip, maxBytes, floor },
          body,
          call.request.signal,
        ),
      );
      evaluation.runs.wake();
      return Response.json(response);
    }),
    withCaller("GET", `${path}/:id/export`, "read", async (call) => {
      const lines = await exportRun(evaluation, requesterOf(call), readPath(call, RunPath).id);
      reservePiece(call.exchange);
      const texts = keepOpenForEach(call, lines);
      return new Response(await streamTexts(texts, logBrokenResponse(services, call)), {
        headers: {
          "content-type": "application/x-ndjson; charset=utf-8",
          "content-disposition": 'attachment; filename="run.jsonl"',
        },
      });
    }),
  ];
}

/** A cursor, checked by its schema, and the place that it stands for. */
function readCursor(cursor: string): OrderedPlace {
  const [place = "", value] = cursor.split("_");
  const [position = 0, repeat = 0] = place.split(".").map(Number);
  return { position, repeat, value: value === undefined ? undefined : Number(value) };
}

function toCursor({ position, repeat, value }: OrderedPlace): string {
  return value === undefined ? `${position}.${repeat}` : `${position}.${repeat}_${value}`;
}

/** The place of the evaluator that a query names. */
function readFilterEvaluator(
  { evaluator, profile_name, pass }: RunSampleListQuery,
  run: Run,
): number | undefined {
  if (evaluator !== undefined) return findEvaluator(run, "evaluator", evaluator, profile_name);
  if (pass === undefined) return undefined;
  throw new InvalidRequestError([missing(["query", "evaluator"], {})]);
}

function readOrderEvaluator(query: RunSampleListQuery, run: Run): number | undefined {
  if (query.order !== "score" && query.order !== "-score") return undefined;
  const { order_evaluator: ordering, order_profile_name, evaluator, profile_name } = query;
  if (ordering !== undefined) return findEvaluator(run, "order_evaluator", ordering, order_profile_name);
  if (evaluator !== undefined) return findEvaluator(run, "evaluator", evaluator, profile_name);
  throw new InvalidRequestError([missing(["query", "order_evaluator"], {})]);
}

function findEvaluator(
  { evaluators }: Run,
  field: string,
  evaluator: string,
  profileName: string | undefined,
): number {
  const index = evaluators.findIndex(
    ({ id, family, profile }) =>
      (id === evaluator || family === evaluator) &&
      (profileName === undefined || profile.name === profileName),
  );
  if (index >= 0) return index;
  throw new InvalidRequestError([valueError(["query", field], "The run has no such evaluator", evaluator)]);
}
