import { setTimeout as sleep } from "node:timers/promises";
import {
  type Run as ApiRun,
  defaultRunConcurrency,
  RunCreateRequest,
  RunEvaluatorsRequest,
  RunListQuery,
  type RunListResponse,
  RunPath,
  type RunProgress,
  type RunTarget,
} from "@presage/contract";
import type { Services } from "../app/services.ts";
import { type NamedReference, readReferences } from "../evaluators/old-names.ts";
import {
  InvalidEvaluatorsError,
  toEvaluatorIssues,
  toWantedEvaluator,
} from "../evaluators/resolve-evaluators.ts";
import { authenticate } from "../http/authenticate.ts";
import { type CallWithCaller, requesterOf } from "../http/call.ts";
import { checkAccess } from "../http/caller.ts";
import { readBody, readKeysetPage, readKnownQuery, readOnce, readPath, toCursor } from "../http/request.ts";
import { eventStreamHeaders, logBrokenResponse, streamTexts } from "../http/response.ts";
import { type Route, withCaller } from "../http/route.ts";
import { InvalidRequestError, valueError } from "../http/validate.ts";
import { ServiceError } from "../platform/errors.ts";
import { toIsoInstant } from "../platform/storage/columns.ts";
import { cancelRun, deleteRun, finishRun, pauseRun, resumeRun } from "./change-run.ts";
import { addEvaluators, createRun, InvalidRunError, type NewRun, type WantedTarget } from "./create-run.ts";
import { findRun, listRuns } from "./find-run.ts";
import { hasEnded, type Run, type RunTarget as RunTargetSchema, toEvaluatorNames } from "./run.ts";
import { runSampleRoutes } from "./samples-route.ts";

/** What a request says of a run, besides its evaluators. */
export function readNewRun(body: RunCreateRequest): Omit<NewRun, "evaluators" | "userId"> {
  return {
    name: body.name ?? undefined,
    dataset: { datasetId: body.dataset_id, revision: body.revision ?? undefined },
    target: readTarget(body.target),
    params: body.params ?? undefined,
    mode: body.mode ?? "teacher-forced",
    repeats: body.repeats ?? 1,
    concurrency: body.concurrency ?? defaultRunConcurrency,
    tags: body.tags ?? undefined,
  };
}

function readTarget(target: RunTarget): WantedTarget {
  if ("deployment" in target)
    return { kind: "deployment", deployment: target.deployment, model: target.model ?? undefined };
  if ("predictions" in target) return { kind: "imported" };
  if (target.baseline === "no-change") return { kind: "no-change" };
  const { from } = target;
  return {
    kind: "most-frequent",
    from: from ? { datasetId: from.dataset_id, revision: from.revision ?? undefined } : undefined,
  };
}

export function toRun(run: Run): ApiRun {
  const { startedAt, finishedAt } = run;
  return {
    id: run.id,
    name: run.name,
    status: run.status,
    status_reason: run.statusReason ?? null,
    progress: toProgress(run),
    dataset_id: run.dataset?.datasetId ?? null,
    revision: run.dataset?.revision ?? null,
    target: toTarget(run.target),
    params: run.params === undefined ? null : { ...run.params },
    mode: run.mode,
    evaluators: [...(run.externalEvaluators ?? run.evaluators.map(toEvaluatorNames))],
    repeats: run.repeats,
    concurrency: run.concurrency,
    tags: run.tags === undefined ? null : { ...run.tags },
    provenance: run.provenance,
    notes: [...run.notes],
    created_by: run.createdBy,
    created_at: toIsoInstant(run.createdAt),
    started_at: startedAt === undefined ? null : toIsoInstant(startedAt),
    finished_at: finishedAt === undefined ? null : toIsoInstant(finishedAt),
  };
}

function toProgress({ counts, tries }: Run): RunProgress {
  const { unpredicted, truncated, empty, repaired, ...progress } = counts;
  return {
    ...progress,
    failed_predictions: unpredicted,
    without_verdict: progress.failed - unpredicted,
    answers:
      truncated === null || empty === null || repaired === null ? null : { truncated, empty, repaired },
    tries: tries ?? null,
  };
}

function toTarget(target: RunTargetSchema): ApiRun["target"] {
  switch (target.kind) {
    case "deployment": {
      const { deployment, model } = target;
      return model === undefined ? { deployment } : { deployment, model };
    }
    case "no-change":
      return { baseline: "no-change" };
    case "most-frequent": {
      const { from } = target;
      return from === undefined
        ? { baseline: "most-frequent" }
        : { baseline: "most-frequent", from: { dataset_id: from.datasetId, revision: from.revision } };
    }
    case "imported":
      return { predictions: "imported" };
    case "external":
      return { external: true };
  }
}

const lookEveryMs = 500;
/** How long the streams of a run share a look at it. */
const shareMs = 250;
/** So that a stream ends within five seconds of the revocation of its key or session. */
const verifyEveryMs = 3_000;
/** Less than proxies wait for. */
const commentEveryMs = 10_000;
const maxStreamsOfUser = 10;

/** The progress of a run as server-sent events. */
function runEventRoute(services: Services, path: string): Route {
  const streamsOf = new Map<string, number>();

  function enter(userId: string): void {
    const count = streamsOf.get(userId) ?? 0;
    if (count >= maxStreamsOfUser)
      throw new ServiceError(
        "rate_limited",
        `A user may have at most ${maxStreamsOfUser} streams of events open. Close one, and try again.`,
        { retryAfterS: 1 },
      );
    streamsOf.set(userId, count + 1);
  }

  function leave(userId: string): void {
    const count = (streamsOf.get(userId) ?? 0) - 1;
    if (count > 0) streamsOf.set(userId, count);
    else streamsOf.delete(userId);
  }

  /** One read a run serves all that follow it: the reads of an account that may wait are limited. */
  const looks = new Map<string, Promise<Run>>();

  function look({ id, accountId }: Run): Promise<Run> {
    const shared = looks.get(id);
    if (shared !== undefined) return shared;
    // It goes on if the stream that began it ends.
    const looking = findRun(services.evaluation, { accountId, signal: new AbortController().signal }, id);
    looks.set(id, looking);
    const forget = () => void looks.delete(id);
    looking.then(() => setTimeout(forget, shareMs).unref(), forget);
    return looking;
  }

  async function* events(call: CallWithCaller, first: Run): AsyncGenerator<string, void> {
    const { request, caller } = call;
    let lastId = request.headers.get("last-event-id");
    let saidAtMs = performance.now();
    let verifiedAtMs = saidAtMs;
    try {
      for (let run = first; ; run = await look(first)) {
        const nowMs = performance.now();
        const id = eventId(run);
        if (id !== lastId) {
          yield `event: run\nid: ${id}\ndata: ${JSON.stringify(toRun(run))}\n\n`;
          [lastId, saidAtMs] = [id, nowMs];
        } else if (nowMs - saidAtMs >= commentEveryMs || run === first) {
          yield ":\n\n";
          saidAtMs = nowMs;
        }
        if (hasEnded(run)) return;
        await sleep(lookEveryMs, undefined, { signal: request.signal });
        if (services.phase() === "stopping") return;
        if (performance.now() - verifiedAtMs >= verifyEveryMs) {
          if (!(await isStillAllowed(call))) return;
          verifiedAtMs = performance.now();
        }
      }
    } finally {
      leave(caller.userId);
    }
  }

  /** Its key or session is still valid, and its role has not changed to one that may not. */
  async function isStillAllowed(call: CallWithCaller): Promise<boolean> {
    // Its key ends with this process.
    if (call.caller.proof.kind === "command_line") return true;
    try {
      checkAccess(await authenticate(services, call), "read");
      return true;
    } catch {
      return false;
    }
  }

  return withCaller("GET", `${path}/:id/events`, "read", async (call) => {
    const run = await findRun(services.evaluation, requesterOf(call), readPath(call, RunPath).id);
    enter(call.caller.userId);
    const body = await streamTexts(events(call, run), logBrokenResponse(services, call));
    return new Response(body, { headers: eventStreamHeaders });
  });
}

/** The same as long as nothing that the event says has changed. */
function eventId(run: Run): string {
  const { status, statusReason, counts, tries, notes } = run;
  const judges = (run.externalEvaluators ?? run.evaluators).length;
  const said = JSON.stringify([status, statusReason, counts, tries, judges, notes]);
  return Bun.hash(said).toString(36);
}

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
