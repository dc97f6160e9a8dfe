import {
  DatasetPath,
  type DatasetRevisionQuery,
  type DatasetSample,
  DatasetSampleListQuery,
  DatasetSampleListResponse,
  DatasetTrajectory,
  DatasetTrajectoryListQuery,
  DatasetTrajectoryListResponse,
  DatasetTrajectoryPath,
  DatasetTrajectoryQuery,
  defaultSampleLimit,
  defaultTrajectoryLimit,
} from "@presage/contract";
import { errorResponse, page, response } from "../http/describe.ts";
import type { HttpServices } from "../http/exchange.ts";
import { streamList } from "../http/response.ts";
import { route } from "../http/route.ts";
import type { Store } from "../platform/storage/store.ts";
import type { WantedRevision } from "./datasets.ts";
import { listTrajectories, pageOfSamples, readTrajectory } from "./samples.ts";

interface SampleServices extends Pick<HttpServices, "log"> {
  store: Store;
}

export const noSuchRevision = {
  "404": errorResponse(
    "The account has no such dataset, or it has no such revision",
    "There is no such dataset.",
  ),
};
export const exampleSample: DatasetSample = {
  dataset_sample_id: "kitchen-1/0",
  trajectory_id: "kitchen-1",
  step: 0,
  context: { task_context: "Take the milk out of the fridge." },
  interaction: { state: "The fridge is closed.", action: "open fridge" },
  next_state: "The fridge is open. It contains milk.",
  reward: 0,
  done: false,
};
const listDatasetSamples = route("GET", "/v1/datasets/:id/samples", {
  needs: "read",
  id: "listDatasetSamples",
  summary: "List a revision's samples",
  description: "Returns samples of a revision in the order of their lines, page by page.",
  params: DatasetPath,
  query: DatasetSampleListQuery,
  responses: {
    "200": response("A page of samples", DatasetSampleListResponse, page(exampleSample)),
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
    "Returns the trajectories of a revision without their samples, page by page. By id, they are in the order of their bytes.",
  params: DatasetPath,
  query: DatasetTrajectoryListQuery,
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
    ...noSuchRevision,
  },
  async handle(services: SampleServices, { call, requester, params, query }) {
    const { limit, order = "trajectory_id", after, contains } = query;
    const { trajectories, next } = await listTrajectories(
      services,
      requester,
      wantedRevision(params, query),
      {
        // Without a text, all have it.
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
      samples: [exampleSample],
      trajectory_id: exampleSample.trajectory_id,
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

export const sampleRoutes = [listDatasetSamples, listDatasetTrajectories, getDatasetTrajectory];

function wantedRevision({ id }: { id: string }, { revision }: DatasetRevisionQuery): WantedRevision {
  return { id, number: revision === undefined ? undefined : Number(revision) };
}

/** The position in a list of trajectories that a cursor, checked by its schema, stands for. */
function readCursor(cursor: string): { steps: number; trajectory_id: string } {
  const end = cursor.indexOf(".");
  return { steps: Number(cursor.slice(0, end)), trajectory_id: cursor.slice(end + 1) };
}

/** A sample is stored, and read, as the JSON that it is sent as. */
function asJson(sample: string): string {
  return sample;
}
