import {
  Dataset,
  DatasetCreateRequest,
  DatasetDeleteQuery,
  type DatasetFormat,
  DatasetListQuery,
  DatasetListResponse,
  DatasetPath,
  type DatasetRevision,
  DatasetRevisionListQuery,
  DatasetRevisionListResponse,
  defaultPageLimit,
  isTrueWord,
} from "@presage/contract";
import { type CallWithCaller, requesterOf } from "../http/call.ts";
import { errorResponse, page, response } from "../http/describe.ts";
import { receiveUpload } from "../http/receive-upload.ts";
import { readKeysetPage, toCursor } from "../http/request.ts";
import { reply, route } from "../http/route.ts";
import { toIsoInstant } from "../platform/storage/columns.ts";
import type { Store } from "../platform/storage/store.ts";
import {
  createDataset,
  type DatasetWithRevision,
  deleteDataset,
  findDataset,
  listDatasets,
  listRevisions,
} from "./datasets.ts";
import type { Revision } from "./revisions-store.ts";
import { noSuchRevision, sampleRoutes } from "./samples-route.ts";
import type { DatasetUploads, UploadedRevision } from "./upload/upload-revision.ts";

const tag = "datasets";
export const exampleRevision: DatasetRevision = {
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
const listAllDatasets = route({
  method: "GET",
  path: "/v1/datasets",
  needs: "read",
  id: "listDatasets",
  tag,
  summary: "List the account's datasets",
  description: "Returns the datasets of the account, newest first, each with its latest revision.",
  query: DatasetListQuery,
  refusesUnknown: true,
  responses: { "200": response("The datasets, newest first", DatasetListResponse, page(exampleDataset)) },
  async handle(services: { store: Store }, { requester, query }) {
    const { datasets, next } = await listDatasets(services, requester, readKeysetPage(query));
    return reply(200, { data: datasets.map(toDataset), next: toCursor(next) });
  },
});

const createOneDataset = route({
  method: "POST",
  path: "/v1/datasets",
  needs: "evaluate",
  id: "createDataset",
  tag,
  summary: "Create a dataset",
  description: "Creates a dataset without samples; an upload makes its first revision.",
  body: DatasetCreateRequest,
  bodyExample: {
    name: exampleDataset.name,
    description: exampleDataset.description,
    tags: exampleDataset.tags,
  },
  once: "create dataset",
  responses: {
    "201": response("The new dataset", Dataset, { ...exampleDataset, latest_revision: null }),
    "409": errorResponse(
      "The account has a dataset of this name",
      'There is already a dataset named "kitchen".',
    ),
  },
  async handle(services: { store: Store }, { call, requester, body, once }) {
    const newDataset = {
      name: body.name,
      description: body.description ?? undefined,
      tags: body.tags ?? undefined,
      change: body.change ?? undefined,
      userId: call.caller.userId,
    };
    const dataset = await createDataset(services, requester, newDataset, once);
    return reply(201, toDataset({ dataset, latest: undefined }));
  },
});

const getDataset = route({
  method: "GET",
  path: "/v1/datasets/:id",
  needs: "read",
  id: "getDataset",
  tag,
  summary: "Show a dataset",
  description: "Returns one dataset of the account with its latest revision.",
  params: DatasetPath,
  responses: { "200": response("The dataset", Dataset, exampleDataset), ...noSuchRevision },
  async handle(services: { store: Store }, { requester, params }) {
    return reply(200, toDataset(await findDataset(services, requester, params.id)));
  },
});

interface DeleteServices {
  store: Store;
  datasets: Pick<DatasetUploads, "sweeper">;
  runs: { wake(): void };
}

const deleteOneDataset = route({
  method: "DELETE",
  path: "/v1/datasets/:id",
  needs: "evaluate",
  id: "deleteDataset",
  tag,
  summary: "Delete a dataset",
  description:
    "Deletes a dataset with all its revisions. They disappear at once; their space is freed soon after.",
  params: DatasetPath,
  query: DatasetDeleteQuery,
  refusesUnknown: true,
  responses: {
    "204": { description: "It is deleted." },
    ...noSuchRevision,
    "409": errorResponse(
      "The dataset has runs, and with_runs was not sent",
      "2 runs of the dataset would lose what they are about. Delete them first, or send with_runs=true.",
    ),
  },
  async handle(services: DeleteServices, { requester, params, query }) {
    const withRuns = isTrueWord(query.with_runs ?? "false");
    await deleteDataset(services, requester, { id: params.id, withRuns });
    services.datasets.sweeper.schedule();
    services.runs.wake();
    return reply(204, undefined);
  },
});

const listDatasetRevisions = route({
  method: "GET",
  path: "/v1/datasets/:id/revisions",
  needs: "read",
  id: "listDatasetRevisions",
  tag,
  summary: "List a dataset's revisions",
  description: "Returns the revisions of a dataset, the highest number first.",
  params: DatasetPath,
  query: DatasetRevisionListQuery,
  refusesUnknown: true,
  responses: {
    "200": response("The revisions, newest first", DatasetRevisionListResponse, page(exampleRevision)),
    ...noSuchRevision,
  },
  async handle(services: { store: Store }, { requester, params, query: { limit, after } }) {
    const { revisions, next } = await listRevisions(services, requester, params.id, {
      limit: Number(limit ?? defaultPageLimit),
      below: after === undefined ? undefined : Number(after),
    });
    return reply(200, {
      data: revisions.map(toDatasetRevision),
      next: next === undefined ? null : String(next),
    });
  },
});

/** All but the upload, which may also be of episodes: `environments/make-dataset.ts` has it. */
export const datasetRoutes = [
  listAllDatasets,
  createOneDataset,
  getDataset,
  deleteOneDataset,
  listDatasetRevisions,
  ...sampleRoutes,
];

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
export async function receiveRevision(
  { datasets }: { datasets: DatasetUploads },
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
