import {
  defaultPageLimit,
  type Experiment,
  ExperimentCreateRequest,
  ExperimentListQuery,
  type ExperimentListResponse,
  ExperimentPath,
  type ExperimentResponse,
  ExperimentUpdateRequest,
} from "@presage/contract";
import type { Services } from "../app/services.ts";
import { valueError } from "../http/pydantic-issues.ts";
import { parseJson } from "../http/read-json.ts";
import { readPage } from "../http/read-page.ts";
import { readExactBody, readOnce, readPath, readQuery } from "../http/read-request.ts";
import { requesterOf } from "../http/requester-of.ts";
import { type CallWithCaller, type Route, withCaller } from "../http/route.ts";
import { streamList } from "../http/stream-list.ts";
import { InvalidRequestError } from "../http/validate.ts";
import { toIsoInstant } from "../platform/storage/micros.ts";
import { createExperiment, UnknownProjectError } from "./create-experiment.ts";
import type { ExperimentRow } from "./experiments-store.ts";
import { findExperiment } from "./find-experiment.ts";
import { listExperiments } from "./list-experiments.ts";
import { updateExperiment } from "./update-experiment.ts";

const path = "/v1/experiments";

export function experimentRoutes(services: Services): Route[] {
  const maxBodyBytes = services.settings.maxShortBodyBytes;
  return [
    withCaller("GET", path, "read", async (call) => {
      const query = readQuery(call, ExperimentListQuery);
      const page = { projectId: query.project_id, ...readPage(query, defaultPageLimit) };
      const name: keyof ExperimentListResponse = "experiments";
      const found = await listExperiments(services.evaluation, requesterOf(call), page);
      return await streamList(services, call, name, found, (one) => JSON.stringify(toExperiment(one)));
    }),
    withCaller("POST", path, "evaluate", async (call) => {
      const body = await readExactBody(call, ExperimentCreateRequest, maxBodyBytes);
      const newExperiment = {
        projectId: body.project_id,
        name: body.name,
        tags: body.tags ?? undefined,
        metadata: body.metadata ?? undefined,
        userId: call.caller.userId,
      };
      const once = readOnce(call, "create experiment", body);
      const experiment = await createExperiment(
        services.evaluation,
        requesterOf(call),
        newExperiment,
        once,
      ).catch((error: unknown) => {
        if (!(error instanceof UnknownProjectError)) throw error;
        throw new InvalidRequestError([valueError(["body", "project_id"], error.message, body.project_id)]);
      });
      return toResponse(experiment, 201);
    }),
    withCaller("GET", `${path}/:id`, "read", async (call) =>
      toResponse(await findExperiment(services.evaluation, requesterOf(call), idOf(call)), 200),
    ),
    withCaller("POST", `${path}/:id`, "evaluate", async (call) => {
      const { metadata } = await readExactBody(call, ExperimentUpdateRequest, maxBodyBytes);
      return toResponse(
        await updateExperiment(services.evaluation, requesterOf(call), idOf(call), metadata),
        200,
      );
    }),
  ];
}

function idOf(call: CallWithCaller): string {
  return readPath(call, ExperimentPath).id;
}

function toResponse(experiment: ExperimentRow, status: number): Response {
  const response: ExperimentResponse = { experiment: toExperiment(experiment) };
  return Response.json(response, { status });
}

function toExperiment({ id, project_id, name, tags, metadata, created_at }: ExperimentRow): Experiment {
  return {
    id,
    project_id,
    name,
    tags: tags === null ? null : (parseJson(tags) as Experiment["tags"]),
    metadata: metadata === null ? null : (parseJson(metadata) as Experiment["metadata"]),
    created_at: toIsoInstant(created_at),
  };
}
