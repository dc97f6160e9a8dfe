import {
  DatasetCreateRequest,
  DatasetDeleteQuery,
  DatasetListQuery,
  type DatasetListResponse,
  DatasetPath,
  DatasetRevisionListQuery,
  type DatasetRevisionListResponse,
  DatasetUploadQuery,
  defaultPageLimit,
  isTrueWord,
} from "@presage/contract";
import type { Services } from "../app/services.ts";
import { reviseFromEpisodes } from "../environments/revise-from-episodes.ts";
import { readKeysetPage, toCursor } from "../http/list-cursor.ts";
import { readBody, readKnownQuery, readOnce, readPath } from "../http/read-request.ts";
import { requesterOf } from "../http/requester-of.ts";
import { type Route, withCaller } from "../http/route.ts";
import { createDataset } from "./create-dataset.ts";
import { toDataset, toDatasetRevision } from "./dataset-response.ts";
import { deleteDataset } from "./delete-dataset.ts";
import { findDataset } from "./find-dataset.ts";
import { listDatasets, listRevisions } from "./list-datasets.ts";
import { receiveRevision } from "./receive-revision.ts";
import { sampleRoutes } from "./samples.ts";

const path = "/v1/datasets";

export function datasetRoutes(services: Services): Route[] {
  const { evaluation, settings } = services;
  return [
    withCaller("GET", path, "read", async (call) => {
      const page = readKeysetPage(readKnownQuery(call, DatasetListQuery));
      const { datasets, next } = await listDatasets(evaluation, requesterOf(call), page);
      const response: DatasetListResponse = { data: datasets.map(toDataset), next: toCursor(next) };
      return Response.json(response);
    }),
    withCaller("POST", path, "evaluate", async (call) => {
      const body = await readBody(call, DatasetCreateRequest, settings.maxShortBodyBytes);
      const newDataset = {
        name: body.name,
        description: body.description ?? undefined,
        tags: body.tags ?? undefined,
        change: body.change ?? undefined,
        userId: call.caller.userId,
      };
      const once = readOnce(call, "create dataset", body);
      const dataset = await createDataset(evaluation, requesterOf(call), newDataset, once);
      return Response.json(toDataset({ dataset, latest: undefined }), { status: 201 });
    }),
    withCaller("GET", `${path}/:id`, "read", async (call) => {
      const { id } = readPath(call, DatasetPath);
      return Response.json(toDataset(await findDataset(evaluation, requesterOf(call), id)));
    }),
    withCaller("DELETE", `${path}/:id`, "evaluate", async (call) => {
      const { id } = readPath(call, DatasetPath);
      const query = readKnownQuery(call, DatasetDeleteQuery);
      const withRuns = isTrueWord(query.with_runs ?? "false");
      await deleteDataset(evaluation, requesterOf(call), { id, withRuns });
      evaluation.datasets.sweeper.schedule();
      evaluation.runs.wake();
      return new Response(null, { status: 204 });
    }),
    withCaller("GET", `${path}/:id/revisions`, "read", async (call) => {
      const { id } = readPath(call, DatasetPath);
      const { limit, after } = readKnownQuery(call, DatasetRevisionListQuery);
      const page = {
        limit: Number(limit ?? defaultPageLimit),
        below: after === undefined ? undefined : Number(after),
      };
      const { revisions, next } = await listRevisions(evaluation, requesterOf(call), id, page);
      const response: DatasetRevisionListResponse = {
        data: revisions.map(toDatasetRevision),
        next: next === undefined ? null : String(next),
      };
      return Response.json(response);
    }),
    withCaller("POST", `${path}/:id/revisions`, "evaluate", async (call) => {
      const { id } = readPath(call, DatasetPath);
      const query = readKnownQuery(call, DatasetUploadQuery);
      const isAppended = isTrueWord(query.append ?? "false");
      const { revision, isNew } =
        query.from === "episodes"
          ? await reviseFromEpisodes(services, call, { id, format: query.format, isAppended })
          : await receiveRevision(evaluation, call, { id, format: query.format, isAppended });
      return Response.json(toDatasetRevision(revision), { status: isNew ? 201 : 200 });
    }),
    ...sampleRoutes(services, path),
  ];
}
