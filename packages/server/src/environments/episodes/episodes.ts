import {
  EpisodeCreateRequest,
  EpisodeFiguresQuery,
  type EpisodeFiguresResponse,
  EpisodeListQuery,
  type EpisodeListResponse,
  EpisodePath,
  readInstant,
  StepRequest,
  type StepResponse,
} from "@presage/contract";
import type { Services } from "../../app/services.ts";
import { admit, countUsage } from "../../http/exchange.ts";
import { keepOpen } from "../../http/keep-open.ts";
import { readKeysetPage, toCursor } from "../../http/list-cursor.ts";
import { valueError } from "../../http/pydantic-issues.ts";
import { readBody, readIdempotencyKey, readKnownQuery, readOnce, readPath } from "../../http/read-request.ts";
import { requesterOf } from "../../http/requester-of.ts";
import { reserveStored } from "../../http/reserve-memory.ts";
import { type CallWithCaller, type Route, withCaller } from "../../http/route.ts";
import { InvalidRequestError } from "../../http/validate.ts";
import { defined } from "../../platform/defined.ts";
import { askDeployment } from "./ask-deployment.ts";
import { countEpisodes } from "./count-episodes.ts";
import { deleteEpisode } from "./delete-episode.ts";
import { findEpisode } from "./episode.ts";
import { toEpisodeFigures } from "./episode-figures-response.ts";
import { toEpisode, toEpisodeStart, toEpisodeSummary, toStep } from "./episode-response.ts";
import { countCharacters, selectSteps } from "./episodes-store.ts";
import { listEpisodes } from "./list-episodes.ts";
import { type NewEpisode, startEpisode } from "./start-episode.ts";
import { stepEpisode } from "./step-episode.ts";

const path = "/v1/episodes";

export function episodeRoutes(services: Services): Route[] {
  const { environments, admission, settings, store } = services;
  const { maxShortBodyBytes } = settings;
  const idOf = (call: CallWithCaller) => readPath(call, EpisodePath).id;

  return [
    withCaller("GET", path, "read", async (call) => {
      const query = readKnownQuery(call, EpisodeListQuery);
      const page = readKeysetPage(query);
      const wanted = readFilter(query);
      const { rows, next } = await listEpisodes(environments, requesterOf(call), wanted, page);
      const response: EpisodeListResponse = { data: rows.map(toEpisodeSummary), next: toCursor(next) };
      return Response.json(response);
    }),
    withCaller("POST", path, "predict", async (call) => {
      const body = await readBody(call, EpisodeCreateRequest, maxShortBodyBytes);
      const { proof } = call.caller;
      const wanted = {
        environment: body.environment,
        ...readTask(body),
        seed: body.seed ?? undefined,
        apiKeyId: proof.kind === "key" ? proof.keyId : undefined,
      };
      const once = readOnce(call, "start episode", body);
      const episode = await startEpisode(environments, requesterOf(call), wanted, once);
      return Response.json(toEpisodeStart(episode), { status: 201 });
    }),
    withCaller("GET", `${path}/figures`, "read", async (call) => {
      const { by = "environment", environment, from, to } = readKnownQuery(call, EpisodeFiguresQuery);
      const wanted = {
        by,
        environment,
        from: from === undefined ? undefined : readInstant(from),
        to: to === undefined ? undefined : readInstant(to),
      };
      const counts = await countEpisodes(environments, requesterOf(call), wanted);
      const response: EpisodeFiguresResponse = { data: counts.map((one) => toEpisodeFigures(by, one)) };
      return Response.json(response);
    }),
    withCaller("GET", `${path}/:id`, "read", async (call) => {
      const episode = await findEpisode(environments, requesterOf(call), idOf(call));
      const { id, task, steps: taken } = episode.row;
      const reader = store.briefReader(requesterOf(call));
      const characters = await countCharacters(reader, id, { after: 0, upTo: Number(taken) });
      reserveStored(call.exchange, characters + task.length);
      const steps = await selectSteps(reader, id, 0);
      return Response.json(toEpisode(episode, steps));
    }),
    withCaller("DELETE", `${path}/:id`, "predict", async (call) => {
      await deleteEpisode(environments, requesterOf(call), idOf(call));
      return new Response(null, { status: 204 });
    }),
    withCaller("POST", `${path}/:id/step`, "predict", async (call) => {
      countUsage(call, "predict");
      await admit(admission, call);
      const { action } = await readBody(call, StepRequest, maxShortBodyBytes);
      keepOpen(call);
      const wanted = {
        episodeId: idOf(call),
        action,
        requestKey: readIdempotencyKey(call.request.headers),
      };
      const ask = askDeployment(services, call);
      const { action: _, ...step } = toStep(await stepEpisode(environments, requesterOf(call), wanted, ask));
      return Response.json(step satisfies StepResponse);
    }),
  ];
}

/** Which task of the environment, or which other one. */
function readTask({
  split,
  index,
  task,
}: EpisodeCreateRequest): Pick<NewEpisode, "split" | "index" | "task"> {
  if (!task) return { split: split ?? "train", index: index ?? undefined };
  const named = split ? "split" : "index";
  if (split || typeof index === "number")
    throw new InvalidRequestError([
      valueError(["body", named], "Give either a task, or its split and index"),
    ]);
  const { split: splitOfTask, ...rest } = task;
  return { split: splitOfTask ?? "train", index: undefined, task: rest };
}

function readFilter({ environment, revision, split, index, status, outcome, from, to }: EpisodeListQuery) {
  return defined({
    environment,
    revision: revision === undefined ? undefined : Number(revision),
    split,
    position: index === undefined ? undefined : Number(index),
    status,
    outcome,
    from: from === undefined ? undefined : readInstant(from),
    to: to === undefined ? undefined : readInstant(to),
  });
}
