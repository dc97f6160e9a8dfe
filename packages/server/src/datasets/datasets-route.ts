import {
  Dataset,
  DatasetCreateRequest,
  DatasetDeleteQuery,
  DatasetListQuery,
  DatasetListResponse,
  DatasetPath,
  DatasetRevisionListQuery,
  DatasetRevisionListResponse,
  type DatasetRevisionQuery,
  DatasetSampleListQuery,
  DatasetSampleListResponse,
  DatasetTrajectory,
  DatasetTrajectoryListQuery,
  DatasetTrajectoryListResponse,
  DatasetTrajectoryPath,
  DatasetTrajectoryQuery,
  defaultPageLimit,
  defaultSampleLimit,
  defaultTrajectoryLimit,
  isTrueWord,
} from "@presage/contract";
import { errorResponse, page, response } from "../http/describe.ts";
import type { HttpServices } from "../http/exchange.ts";
import { readKeysetPage, readNumberedPage, toCursor } from "../http/request.ts";
import { streamList } from "../http/response.ts";
import { reply, route } from "../http/route.ts";
import type { Store } from "../platform/storage/store.ts";
import {
  createDataset,
  deleteDataset,
  findDataset,
  listDatasets,
  listRevisions,
  toDataset,
  toDatasetRevision,
  type WantedRevision,
} from "./datasets.ts";
import examples from "./examples.json" with { type: "json" };
import { listTrajectories, pageOfSamples, readTrajectory } from "./samples.ts";
import type { DatasetUploads } from "./upload/upload-revision.ts";

interface SampleServices extends Pick<HttpServices, "log"> {
  store: Store;
}

export const noSuchRevision = {
  "404": errorResponse(
    "The account has no such dataset, or it has no such revision",
    "There is no such dataset.",
  ),
};

const listDatasetSamples = route("GET", "/v1/datasets/:id/samples", {
  needs: "read",
  id: "listDatasetSamples",
  summary: "List a revision's samples",
  description: "Returns samples of a revision in the order of their lines, page by page.",
  params: DatasetPath,
  query: DatasetSampleListQuery,
  responses: {
    "200": response("A page of samples", DatasetSampleListResponse, page(examples.sample)),
    ...noSuchRevision,
  },
  async handle(services: SampleServices, { call, requester, params, query: { limit, after, ...query } }) {
    const page = { limit: Number(limit ?? defaultSampleLimit), after: Number(after ?? 0) };
    const found = await pageOfSamples(services, requester, wantedRevision(params, query), page);
    const name: keyof DatasetSampleListResponse = "data";
    const next = found.next === undefined ? null : String(found.next);
    return await streamList(services, call, name, found.samples, asJson, { next });
  },
});

const listDatasetTrajectories = route("GET", "/v1/datasets/:id/trajectories", {
  needs: "read",
  id: "listDatasetTrajectories",
  summary: "List a revision's trajectories",
  description:
    "Returns the trajectories of a revision without their samples, page by page. Ordered by id, they are sorted by the bytes of their ids.",
  params: DatasetPath,
  query: DatasetTrajectoryListQuery,
  responses: {
    "200": response("A page of trajectories", DatasetTrajectoryListResponse, examples.trajectories),
    ...noSuchRevision,
  },
  async handle(services: SampleServices, { call, requester, params, query }) {
    const { limit, order = "trajectory_id", after, contains } = query;
    const { trajectories, next } = await listTrajectories(
      services,
      requester,
      wantedRevision(params, query),
      {
        // Every id contains an empty text.
        contains: contains === "" ? undefined : contains,
        order,
        limit: Number(limit ?? defaultTrajectoryLimit),
        after: after === undefined ? undefined : readCursor(after),
      },
    );
    const name: keyof DatasetTrajectoryListResponse = "data";
    return await streamList(services, call, name, trajectories, JSON.stringify, {
      next: next === undefined ? null : `${next.steps}.${next.trajectory_id}`,
    });
  },
});

const getDatasetTrajectory = route("GET", "/v1/datasets/:id/trajectories/:trajectory_id", {
  needs: "read",
  id: "getDatasetTrajectory",
  summary: "Show a trajectory",
  description: "Returns the samples of one trajectory of a revision, by step: all of them, or a page.",
  params: DatasetTrajectoryPath,
  query: DatasetTrajectoryQuery,
  responses: {
    "200": response("The trajectory", DatasetTrajectory, {
      samples: [examples.sample],
      trajectory_id: "kitchen-1",
      next: null,
    }),
    "404": errorResponse(
      "The account has no such dataset, or it has no such revision or trajectory",
      "The revision has no such trajectory.",
    ),
  },
  async handle(services: SampleServices, { call, requester, params, query: { limit, after, ...query } }) {
    const { trajectory_id } = params;
    const wanted = { ...wantedRevision(params, query), trajectoryId: trajectory_id };
    const { samples, next } = await readTrajectory(services, requester, wanted, {
      limit: limit === undefined ? undefined : Number(limit),
      after: Number(after ?? -1),
    });
    const name: keyof DatasetTrajectory = "samples";
    return await streamList(services, call, name, samples, asJson, {
      trajectory_id,
      next: next === undefined ? null : String(next),
    });
  },
});

function wantedRevision({ id }: { id: string }, { revision }: DatasetRevisionQuery): WantedRevision {
  return { id, number: revision === undefined ? undefined : Number(revision) };
}

/** The position that a cursor, checked by its schema, stands for in a list of trajectories. */
function readCursor(cursor: string): { steps: number; trajectory_id: string } {
  const end = cursor.indexOf(".");
  return { steps: Number(cursor.slice(0, end)), trajectory_id: cursor.slice(end + 1) };
}

/** A sample is stored, read and sent as the same JSON. */
function asJson(sample: string): string {
  return sample;
}

const listAllDatasets = route("GET", "/v1/datasets", {
  needs: "read",
  id: "listDatasets",
  summary: "List the account's datasets",
  description: "Returns the datasets of the account, newest first, each with its latest revision.",
  query: DatasetListQuery,
  responses: { "200": response("The datasets, newest first", DatasetListResponse, page(examples.dataset)) },
  async handle(services: { store: Store }, { requester, query }) {
    const { datasets, next } = await listDatasets(services, requester, readKeysetPage(query));
    return reply(200, { data: datasets.map(toDataset), next: toCursor(next) });
  },
});

const createOneDataset = route("POST", "/v1/datasets", {
  needs: "evaluate",
  id: "createDataset",
  summary: "Create a dataset",
  description: "Creates a dataset without samples; an upload makes its first revision.",
  body: DatasetCreateRequest,
  bodyExample: examples.newDataset,
  once: "create dataset",
  responses: {
    "201": response("The new dataset", Dataset, { ...examples.dataset, latest_revision: null }),
    "409": errorResponse(
      "The account has a dataset of this name",
      'There is already a dataset named "kitchen".',
    ),
  },
  async handle(services: { store: Store }, { call, requester, body, once }) {
    const newDataset = { ...body, userId: call.caller.userId };
    const dataset = await createDataset(services, requester, newDataset, once);
    return reply(201, toDataset({ ...dataset, latest: undefined }));
  },
});

const getDataset = route("GET", "/v1/datasets/:id", {
  needs: "read",
  id: "getDataset",
  summary: "Show a dataset",
  description: "Returns one dataset of the account with its latest revision.",
  params: DatasetPath,
  responses: { "200": response("The dataset", Dataset, examples.dataset), ...noSuchRevision },
  async handle(services: { store: Store }, { requester, params }) {
    return reply(200, toDataset(await findDataset(services, requester, params.id)));
  },
});

interface DeleteServices {
  store: Store;
  datasets: Pick<DatasetUploads, "sweeper">;
  runs: { wake(): void };
  forgetRevisions(ids: readonly number[]): void;
}

const deleteOneDataset = route("DELETE", "/v1/datasets/:id", {
  needs: "evaluate",
  id: "deleteDataset",
  summary: "Delete a dataset",
  description:
    "Deletes a dataset with all its revisions. They disappear immediately; their space is freed soon after.",
  params: DatasetPath,
  query: DatasetDeleteQuery,
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

const listDatasetRevisions = route("GET", "/v1/datasets/:id/revisions", {
  needs: "read",
  id: "listDatasetRevisions",
  summary: "List a dataset's revisions",
  description: "Returns the revisions of a dataset, the highest number first.",
  params: DatasetPath,
  query: DatasetRevisionListQuery,
  responses: {
    "200": response("The revisions, newest first", DatasetRevisionListResponse, page(examples.revision)),
    ...noSuchRevision,
  },
  async handle(services: { store: Store }, { requester, params, query }) {
    const page = readNumberedPage(query, defaultPageLimit);
    const { rows, next } = await listRevisions(services, requester, params.id, page);
    return reply(200, { data: rows.map(toDatasetRevision), next });
  },
});

export const datasetRoutes = [
  listAllDatasets,
  createOneDataset,
  getDataset,
  deleteOneDataset,
  listDatasetRevisions,
  listDatasetSamples,
  listDatasetTrajectories,
  getDatasetTrajectory,
];
