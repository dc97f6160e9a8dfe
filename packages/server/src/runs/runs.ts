import {
  RunCreateRequest,
  RunEvaluatorsRequest,
  RunListQuery,
  type RunListResponse,
  RunPath,
} from "@presage/contract";
import type { Services } from "../app/services.ts";
import { InvalidEvaluatorsError, toEvaluatorIssues, toWantedEvaluator } from "../evaluators/resolve-evaluators.ts";
import { type NamedReference, readReferences } from "../evaluators/old-names.ts";
import { readKeysetPage, toCursor } from "../http/list-cursor.ts";
import { valueError } from "../http/pydantic-issues.ts";
import { readBody, readKnownQuery, readOnce, readPath } from "../http/read-request.ts";
import { requesterOf } from "../http/requester-of.ts";
import { type CallWithCaller, type Route, withCaller } from "../http/route.ts";
import { InvalidRequestError } from "../http/validate.ts";
import { addEvaluators } from "./add-evaluators.ts";
import { cancelRun, finishRun, pauseRun, resumeRun } from "./change-status.ts";
import { createRun, InvalidRunError } from "./create-run.ts";
import { deleteRun } from "./delete-run.ts";
import { findRun } from "./find-run.ts";
import { listRuns } from "./list-runs.ts";
import { readNewRun } from "./read-new-run.ts";
import { runEventRoute } from "./run-events.ts";
import { toRun } from "./run-response.ts";
import { runSampleRoutes } from "./run-samples.ts";

const path = "/v1/runs";

export function runRoutes(services: Services): Route[] {
  const { evaluation } = services;
  const { maxShortBodyBytes } = services.settings;
  const idOf = (call: CallWithCaller) => readPath(call, RunPath).id;

  return [
    withCaller("GET", path, "read", async (call) => {
      const query = readKnownQuery(call, RunListQuery);
      const filter = { datasetId: query.dataset_id, status: query.status, name: query.name };
      const { rows, next } = await listRuns(evaluation, requesterOf(call), filter, readKeysetPage(query));
      const response: RunListResponse = { data: rows.map(toRun), next: toCursor(next) };
      return Response.json(response);
    }),
    withCaller("POST", path, "evaluate", async (call) => {
      const body = await readBody(call, RunCreateRequest, maxShortBodyBytes);
      const references = readReferences(body);
      const wanted = {
        ...readNewRun(body),
        evaluators: references.map(toWantedEvaluator),
        userId: call.caller.userId,
      };
      const once = readOnce(call, "create run", body);
      const created = createRun(evaluation, requesterOf(call), wanted, once);
      const run = await created.catch((error: unknown) => {
        if (!(error instanceof InvalidRunError)) throw toInvalidRequest(error, references);
        throw new InvalidRequestError([valueError(["body", ...error.path], error.message)]);
      });
      return Response.json(toRun(run), { status: 201 });
    }),
    withCaller("GET", `${path}/:id`, "read", async (call) =>
      Response.json(toRun(await findRun(evaluation, requesterOf(call), idOf(call)))),
    ),
    withCaller("DELETE", `${path}/:id`, "evaluate", async (call) => {
      await deleteRun(evaluation, requesterOf(call), idOf(call));
      return new Response(null, { status: 204 });
    }),
    withCaller("POST", `${path}/:id/evaluators`, "evaluate", async (call) => {
      const body = await readBody(call, RunEvaluatorsRequest, maxShortBodyBytes);
      const references = readReferences(body);
      const wanted = references.map(toWantedEvaluator);
      const changed = addEvaluators(evaluation, requesterOf(call), idOf(call), wanted);
      const run = await changed.catch((error: unknown) => {
        throw toInvalidRequest(error, references);
      });
      return Response.json(toRun(run));
    }),
    withCaller("POST", `${path}/:id/cancel`, "evaluate", async (call) =>
      Response.json(toRun(await cancelRun(evaluation, requesterOf(call), idOf(call)))),
    ),
    withCaller("POST", `${path}/:id/pause`, "evaluate", async (call) =>
      Response.json(toRun(await pauseRun(evaluation, requesterOf(call), idOf(call)))),
    ),
    withCaller("POST", `${path}/:id/resume`, "evaluate", async (call) =>
      Response.json(toRun(await resumeRun(evaluation, requesterOf(call), idOf(call)))),
    ),
    withCaller("POST", `${path}/:id/finish`, "evaluate", async (call) =>
      Response.json(toRun(await finishRun(evaluation, requesterOf(call), idOf(call)))),
    ),
    runEventRoute(services, path),
    ...runSampleRoutes(services, path),
  ];
}

function toInvalidRequest(error: unknown, references: readonly NamedReference[]): unknown {
  if (!(error instanceof InvalidEvaluatorsError)) return error;
  return new InvalidRequestError(toEvaluatorIssues(error.issues, references));
}
