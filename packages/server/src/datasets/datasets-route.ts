import {
  Dataset,
  DatasetCreateRequest,
  DatasetDeleteQuery,
  type DatasetFormat,
  DatasetLine,
  DatasetListQuery,
  DatasetListResponse,
  DatasetPath,
  DatasetRevision,
  DatasetRevisionListQuery,
  DatasetRevisionListResponse,
  DatasetRevisionQuery,
  DatasetSample,
  DatasetSampleListQuery,
  DatasetSampleListResponse,
  DatasetTrajectory,
  DatasetTrajectoryListQuery,
  DatasetTrajectoryListResponse,
  DatasetTrajectoryPath,
  DatasetTrajectoryQuery,
  DatasetUploadQuery,
  defaultPageLimit,
  EpisodeSelection,
  HTTPValidationError,
  isTrueWord,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import type { Services } from "../app/services.ts";
import { reviseFromEpisodes } from "../environments/make-dataset.ts";
import { type CallWithCaller, requesterOf } from "../http/call.ts";
import { body, errorResponse, idempotencyHeader, operation, page, response } from "../http/describe.ts";
import { receiveUpload } from "../http/receive-upload.ts";
import { readBody, readKeysetPage, readKnownQuery, readOnce, readPath, toCursor } from "../http/request.ts";
import { type Route, withCaller } from "../http/route.ts";
import { toIsoInstant } from "../platform/storage/columns.ts";
import type { EvaluationServices } from "../results/evaluation-services.ts";
import {
  createDataset,
  type DatasetWithRevision,
  deleteDataset,
  findDataset,
  listDatasets,
  listRevisions,
} from "./datasets.ts";
import type { Revision } from "./revisions-store.ts";
import { sampleRoutes } from "./samples-route.ts";
import type { UploadedRevision } from "./upload/upload-revision.ts";

export function toDataset({ dataset, latest }: DatasetWithRevision): Dataset {
  return {
    id: dataset.id,
    name: dataset.name,
    description: dataset.description,
    tags: dataset.tags === null ? null : (JSON.parse(dataset.tags) as Dataset["tags"]),
    change: dataset.change === null ? null : (JSON.parse(dataset.change) as Dataset["change"]),
    latest_revision: latest === undefined ? null : toDatasetRevision(latest),
    created_by: dataset.created_by,
    created_at: toIsoInstant(dataset.created_at),
  };
}

export function toDatasetRevision({
  number,
  digest,
  samples,
  trajectories,
  bytes,
  createdAt,
  warnings,
}: Revision): DatasetRevision {
  const created_at = toIsoInstant(createdAt);
  return { revision: number, digest, samples, trajectories, bytes, created_at, warnings };
}

/** Stores the lines of a request's body as a revision, as they arrive. */
async function receiveRevision(
  { datasets }: Pick<EvaluationServices, "datasets">,
  call: CallWithCaller,
  { id, format, isAppended }: { id: string; format: DatasetFormat | undefined; isAppended: boolean },
): Promise<UploadedRevision> {
  const { maxBytes, floor, quotaBytes, uploads } = datasets;
  const { accountId, actor } = requesterOf(call);
  try {
    return await receiveUpload(call, (body, { isGzip }) =>
      uploads.uploadRevision(
        { accountId, actor, datasetId: id, format, isGzip, isAppended, maxBytes, floor, quotaBytes },
        body,
        call.request.signal,
      ),
    );
  } finally {
    datasets.sweeper.schedule();
  }
}

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

const tag = "datasets";
const notFound = {
  "404": errorResponse(
    "The account has no such dataset, or it has no such revision",
    "There is no such dataset.",
  ),
};
const exampleRevision: DatasetRevision = {
  revision: 1,
  digest: "5e0e4cb1d3ab5ae1b3d7a0e1d1a8f5f3f0cf9f0d41d6b8cbb06f1c4b7b0f2a91",
  samples: 394,
  trajectories: 12,
  bytes: 3_120_418,
  created_at: "2026-11-22T03:46:51.371Z",
};
const exampleDataset: Dataset = {
  id: "019aa5f4-2c61-7000-b5a7-41d27c0c9e33",
  name: "kitchen",
  description: "Ten walks through a kitchen",
  tags: { split: "test" },
  change: null,
  latest_revision: exampleRevision,
  created_by: "01a2015d-17f6-75b4-a7a7-ccd9f62a3a59",
  created_at: "2026-11-22T03:46:48.004Z",
};
const exampleSample: DatasetSample = {
  dataset_sample_id: "kitchen-1/0",
  trajectory_id: "kitchen-1",
  step: 0,
  context: { task_context: "Take the milk out of the fridge." },
  interaction: { state: "The fridge is closed.", action: "open fridge" },
  next_state: "The fridge is open. It contains milk.",
  reward: 0,
  done: false,
};
const { dataset_sample_id: _, ...exampleLine } = exampleSample;
const requestParams = { path: DatasetPath };

export const datasetPaths: ZodOpenApiPathsObject = {
  "/v1/datasets": {
    get: operation("listDatasets", tag, "List the account's datasets", {
      description: "Returns the datasets of the account, newest first, each with its latest revision.",
      requestParams: { query: DatasetListQuery },
      responses: {
        "200": response("The datasets, newest first", DatasetListResponse, page(exampleDataset)),
      },
    }),
    post: operation("createDataset", tag, "Create a dataset", {
      description: "Creates a dataset without samples; an upload makes its first revision.",
      requestParams: { header: idempotencyHeader },
      requestBody: body(DatasetCreateRequest, {
        name: exampleDataset.name,
        description: exampleDataset.description,
        tags: exampleDataset.tags,
      }),
      responses: {
        "201": response("The new dataset", Dataset, { ...exampleDataset, latest_revision: null }),
        "409": errorResponse(
          "The account has a dataset of this name",
          'There is already a dataset named "kitchen".',
        ),
      },
    }),
  },
  "/v1/datasets/{id}": {
    get: operation("getDataset", tag, "Show a dataset", {
      description: "Returns one dataset of the account with its latest revision.",
      requestParams,
      responses: { "200": response("The dataset", Dataset, exampleDataset), ...notFound },
    }),
    delete: operation("deleteDataset", tag, "Delete a dataset", {
      description:
        "Deletes a dataset with all its revisions. They disappear at once; their space is freed soon after.",
      requestParams: { ...requestParams, query: DatasetDeleteQuery },
      responses: {
        "204": { description: "It is deleted." },
        ...notFound,
        "409": errorResponse(
          "The dataset has runs, and with_runs was not sent",
          "2 runs of the dataset would lose what they are about. Delete them first, or send with_runs=true.",
        ),
      },
    }),
  },
  "/v1/datasets/{id}/revisions": {
    get: operation("listDatasetRevisions", tag, "List a dataset's revisions", {
      description: "Returns the revisions of a dataset, the highest number first.",
      requestParams: { ...requestParams, query: DatasetRevisionListQuery },
      responses: {
        "200": response("The revisions, newest first", DatasetRevisionListResponse, page(exampleRevision)),
        ...notFound,
      },
    }),
    post: operation("uploadDatasetRevision", tag, "Upload a revision", {
      description:
        "Stores the body's JSON lines, of up to 16 MiB each, as an immutable revision, in the order in which they come. The revision is visible once the whole body is stored; if a line is wrong, it is named by its number and nothing is kept. The same lines again return the revision that has them. With `append=true` the lines of the latest revision come first. With `from=episodes` the body is one JSON object that says which episodes become the trajectories of the revision, oldest first: each step a sample, with the episode's id as the trajectory. With `Content-Encoding: gzip` the body is decompressed.",
      requestParams: { ...requestParams, query: DatasetUploadQuery },
      requestBody: {
        required: true,
        description: "One JSON object a line. Other formats: see the parameter `format`.",
        content: {
          "application/x-ndjson": { schema: DatasetLine, example: exampleLine },
          "application/json": {
            schema: EpisodeSelection,
            example: { environment: "sandbox", status: "finished" },
          },
        },
      },
      responses: {
        "200": response("The revision that already had these lines", DatasetRevision, exampleRevision),
        "201": response("The new revision", DatasetRevision, exampleRevision),
        "409": errorResponse(
          "The dataset was deleted during the upload, the upload was interrupted for too long, or another revision was added while lines were appended",
          "The upload was interrupted for too long.",
        ),
        ...notFound,
        "413": errorResponse(
          "The upload is larger than PRESAGE_MAX_DATASET_BYTES or 200 times as long as its gzip, or the account's datasets would be larger than its quota",
          "The upload is larger than 1073741824 bytes (PRESAGE_MAX_DATASET_BYTES), decompressed.",
        ),
        "422": response("A line, named by its number, or the request is not valid", HTTPValidationError, {
          detail: [
            {
              type: "value_error",
              loc: ["body", "line", 17, "next_state"],
              msg: "Value error, Field required",
              ctx: { error: "Field required" },
            },
          ],
        }),
        "507": errorResponse(
          "The disk of the database has less room than PRESAGE_MIN_FREE_DISK_BYTES",
          "The database's disk has 734003200 bytes free, and uploads and runs leave 1073741824 (PRESAGE_MIN_FREE_DISK_BYTES).",
        ),
      },
    }),
  },
  "/v1/datasets/{id}/samples": {
    get: operation("listDatasetSamples", tag, "List a revision's samples", {
      description: "Returns samples of a revision in the order of their lines, page by page.",
      requestParams: { ...requestParams, query: DatasetSampleListQuery },
      responses: {
        "200": response("A page of samples", DatasetSampleListResponse, page(exampleSample)),
        ...notFound,
      },
    }),
  },
  "/v1/datasets/{id}/trajectories": {
    get: operation("listDatasetTrajectories", tag, "List a revision's trajectories", {
      description:
        "Returns the trajectories of a revision without their samples, page by page. By id, they are in the order of their bytes.",
      requestParams: { ...requestParams, query: DatasetTrajectoryListQuery },
      responses: {
        "200": response("A page of trajectories", DatasetTrajectoryListResponse, {
          data: [
            {
              trajectory_id: exampleSample.trajectory_id,
              steps: 32,
              first_step: 0,
              last_step: 31,
              tags: { split: "test" },
            },
          ],
          next: null,
        }),
        ...notFound,
      },
    }),
  },
  "/v1/datasets/{id}/trajectories/{trajectory_id}": {
    get: operation("getDatasetTrajectory", tag, "Show a trajectory", {
      description: "Returns the samples of one trajectory of a revision, by step: all of them, or a page.",
      requestParams: { path: DatasetTrajectoryPath, query: DatasetTrajectoryQuery },
      responses: {
        "200": response("The trajectory", DatasetTrajectory, {
          samples: [exampleSample],
          trajectory_id: exampleSample.trajectory_id,
          next: null,
        }),
        "404": errorResponse(
          "The account has no such dataset, or it has no such revision or trajectory",
          "The revision has no such trajectory.",
        ),
      },
    }),
  },
  "/v1/datasets/{id}/export": {
    get: operation("exportDataset", tag, "Export a revision", {
      description:
        "Returns all samples of a revision as JSON lines, in the order of the upload. Their SHA-256 is the revision's digest, and an upload of them to any Presage makes a revision with the same digest.",
      requestParams: { ...requestParams, query: DatasetRevisionQuery },
      responses: {
        "200": {
          description: "One sample a line",
          content: {
            "application/x-ndjson": { schema: DatasetSample, example: exampleSample },
          },
        },
        ...notFound,
      },
    }),
  },
};
