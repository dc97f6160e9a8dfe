import {
  defaultRunSampleLimit,
  isTrueWord,
  RunPath,
  RunSampleListQuery,
  type RunSampleListResponse,
  type RunUpload,
} from "@presage/contract";
import { findRun } from "../../../evaluation/runs/find-run.ts";
import { exportRun, listRunSamples, start } from "../../../evaluation/runs/list-run-samples.ts";
import type { Run } from "../../../evaluation/runs/run.ts";
import { keepOpenForEach } from "../../pipeline/keep-open.ts";
import { reserveStored } from "../../pipeline/reserve-memory.ts";
import { type Route, withCaller } from "../../pipeline/route.ts";
import { missing, valueError } from "../../request/pydantic-issues.ts";
import { readPath, readQuery } from "../../request/read-request.ts";
import { receiveUpload } from "../../request/receive-upload.ts";
import { requesterOf } from "../../request/requester-of.ts";
import { InvalidRequestError } from "../../request/validate.ts";
import { logBrokenResponse } from "../../response/log-broken-response.ts";
import { streamTexts } from "../../response/stream-texts.ts";
import type { Services } from "../../services.ts";

/** How much of an export is read at once. */
const bytesOfPiece = 1_000_000;

/** Reads of a run's predictions. */
export function runSampleRoutes(services: Services, path: string): Route[] {
  const { evaluation } = services;
  return [
    withCaller("GET", `${path}/:id/samples`, async (call) => {
      const query = readQuery(call, RunSampleListQuery);
      const run = await findRun(evaluation, requesterOf(call), readPath(call, RunPath).id);
      const filter = {
        evaluator: readEvaluator(query, run),
        pass: query.pass === undefined ? undefined : isTrueWord(query.pass),
        status: query.status,
        trajectoryId: query.trajectory_id,
        step: query.step === undefined ? undefined : Number(query.step),
        isChanged: query.changed === undefined ? undefined : isTrueWord(query.changed),
      };
      const [position, repeat] = query.after?.split(".").map(Number) ?? [];
      const after = position === undefined || repeat === undefined ? start : { position, repeat };
      const page = { limit: Number(query.limit ?? defaultRunSampleLimit), after };
      const { samples, next } = await listRunSamples(evaluation, requesterOf(call), run, filter, page);
      const response: RunSampleListResponse = {
        data: samples,
        next: next === undefined ? null : `${next.position}.${next.repeat}`,
      };
      return Response.json(response);
    }),
    withCaller("POST", `${path}/:id/predictions`, async (call) => {
      const { id: runId } = readPath(call, RunPath);
      const { uploads, maxBytes } = evaluation.datasets;
      const { accountId } = call.caller;
      const { predictions } = await receiveUpload(call, (body, { isGzip }) =>
        uploads.uploadPredictions({ accountId, runId, isGzip, maxBytes }, body, call.request.signal),
      );
      evaluation.runs.wake();
      const response: RunUpload = { predictions };
      return Response.json(response);
    }),
    withCaller("GET", `${path}/:id/export`, async (call) => {
      const lines = await exportRun(evaluation, requesterOf(call), readPath(call, RunPath).id);
      reserveStored(call.exchange, bytesOfPiece);
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

/** The place of the evaluator that a query names. */
function readEvaluator(
  { evaluator, profile_name, pass }: RunSampleListQuery,
  { evaluators }: Run,
): number | undefined {
  if (evaluator === undefined) {
    if (pass === undefined) return undefined;
    throw new InvalidRequestError([missing(["query", "evaluator"], {})]);
  }
  const index = evaluators.findIndex(
    ({ id, family, profile }) =>
      (id === evaluator || family === evaluator) &&
      (profile_name === undefined || profile.name === profile_name),
  );
  if (index >= 0) return index;
  throw new InvalidRequestError([
    valueError(["query", "evaluator"], "The run has no such evaluator", evaluator),
  ]);
}
