import {
  defaultRunSampleLimit,
  isTrueWord,
  RunPath,
  RunSampleListQuery,
  type RunSampleListResponse,
  type RunUpload,
} from "@presage/contract";
import type { Services } from "../app/services.ts";
import { keepOpenForEach } from "../http/keep-open.ts";
import { logBrokenResponse } from "../http/log-broken-response.ts";
import { missing, valueError } from "../http/pydantic-issues.ts";
import { readKnownQuery, readPath } from "../http/read-request.ts";
import { receiveUpload } from "../http/receive-upload.ts";
import { requesterOf } from "../http/requester-of.ts";
import { reservePiece } from "../http/reserve-memory.ts";
import { type Route, withCaller } from "../http/route.ts";
import { streamTexts } from "../http/stream-texts.ts";
import { InvalidRequestError } from "../http/validate.ts";
import { findRun } from "./find-run.ts";
import { exportRun, listRunSamples } from "./list-run-samples.ts";
import type { Run } from "./run.ts";
import type { OrderedPlace } from "./run-samples-store.ts";

/** Reads of a run's predictions. */
export function runSampleRoutes(services: Services, path: string): Route[] {
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
