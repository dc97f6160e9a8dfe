import type {
  Environment,
  EnvironmentConfig,
  EnvironmentCreateRequest,
  EnvironmentDetail,
  EnvironmentRevision,
  EnvironmentTask,
  Episode,
  EpisodeCreateRequest,
  EpisodeExportQuery,
  EpisodeFigures,
  EpisodeFiguresQuery,
  EpisodeFiguresResponse,
  EpisodeListQuery,
  EpisodeListResponse,
  EpisodeStart,
  EpisodeSummary,
  StepResponse,
  TaskLine,
  TaskListResponse,
  TaskSplitName,
  TasksAdded,
  TasksFromDataset,
} from "@presage/contract";
import {
  type CallOptions,
  type ListOptions,
  type PageOptions,
  type QueryOf,
  underOneKey,
  type WriteOptions,
} from "../call.ts";
import { callsOf, pathsUnder } from "../resource.ts";
import type { Transport } from "../transport.ts";

/** Environments that a world model plays, and their tasks. */
export interface Environments {
  /** Lists all environments, newest first, and the built-in one: `GET /v1/environments`. */
  list(options?: ListOptions): Promise<Environment[]>;
  /** Gets one environment in its latest revision: `GET /v1/environments/{name}`. */
  get(name: string, options?: CallOptions): Promise<EnvironmentDetail>;
  /** Lists an environment's revisions, the highest number first: `GET /v1/environments/{name}/revisions`. */
  listRevisions(name: string, options?: ListOptions): Promise<EnvironmentRevision[]>;
  /** Creates an environment without tasks: `POST /v1/environments`. */
  create(request: EnvironmentCreateRequest, options?: WriteOptions): Promise<Environment>;
  /** Replaces some fields, and removes those that are null, in a new revision: `PATCH /v1/environments/{name}`. */
  revise(name: string, changes: EnvironmentConfig, options?: CallOptions): Promise<Environment>;
  /** Deletes an environment, with its episodes only if `withEpisodes` says so: `DELETE /v1/environments/{name}`. */
  delete(name: string, options?: CallOptions & { withEpisodes?: boolean | undefined }): Promise<void>;
  /** Appends tasks, or one for each trajectory of a dataset: `POST /v1/environments/{name}/tasks`. */
  addTasks(
    name: string,
    tasks: readonly TaskLine[] | TasksFromDataset,
    options?: WriteOptions,
  ): Promise<TasksAdded>;
  /** Gets one page of the tasks of a split: `GET /v1/environments/{name}/tasks`. */
  pageOfTasks(name: string, split: TaskSplitName, options?: PageOptions): Promise<TaskListResponse>;
  /** Lists the tasks of a split by index: `GET /v1/environments/{name}/tasks`. */
  listTasks(name: string, split: TaskSplitName, options?: ListOptions): Promise<EnvironmentTask[]>;
}

const environmentsPath = "/v1/environments";
const environmentPath = pathsUnder(environmentsPath);

export function environments(transport: Transport): Environments {
  const { get, create, remove, list } = callsOf(transport);
  return {
    list: (options) => list(environmentsPath, options),
    get: (name, options) => get(environmentPath(name), options),
    listRevisions: (name, options) => list(environmentPath(name, "/revisions"), options),
    create: (body, options) => create(environmentsPath, body, options),
    revise: (name, body, options) =>
      transport.json({ method: "PATCH", path: environmentPath(name), body }, options),
    delete: (name, { withEpisodes, ...options } = {}) =>
      remove(environmentPath(name), options, { with_episodes: withEpisodes }),
    addTasks(name, tasks, options) {
      const content = Array.isArray(tasks)
        ? tasks.map((task) => `${JSON.stringify(task)}\n`).join("")
        : JSON.stringify(tasks);
      const path = environmentPath(name, "/tasks");
      return transport.json({ method: "POST", path, content, ...underOneKey(options) }, options);
    },
    pageOfTasks: (name, split, { limit, after, ...options } = {}) =>
      get(environmentPath(name, "/tasks"), options, { split, limit, after }),
    listTasks: (name, split, options) => list(environmentPath(name, "/tasks"), options, { split }),
  };
}

/** Selects episodes. */
export interface EpisodeFilter extends Omit<EpisodeListQuery, "revision" | "index" | "limit" | "after"> {
  revision?: number | undefined;
  /** The task's place in its split. */
  index?: number | undefined;
}

/** Episodes in environments, step by step. */
export interface Episodes {
  /** Starts an episode with a task of an environment: `POST /v1/episodes`. */
  start(request: EpisodeCreateRequest, options?: WriteOptions): Promise<EpisodeStart>;
  /** Takes a step, which takes effect once even if it is retried: `POST /v1/episodes/{id}/step`. */
  step(id: string, action: string, options?: WriteOptions): Promise<StepResponse>;
  /** Gets an episode with its steps: `GET /v1/episodes/{id}`. */
  get(id: string, options?: CallOptions): Promise<Episode>;
  /** Lists all episodes that match, newest first: `GET /v1/episodes`. */
  list(filter?: EpisodeFilter, options?: ListOptions): Promise<EpisodeSummary[]>;
  /** Gets one page of the episodes that match: `GET /v1/episodes`. */
  page(filter?: EpisodeFilter, options?: PageOptions): Promise<EpisodeListResponse>;
  /** Yields the episodes that match as a file in the given format, as it arrives: `GET /v1/episodes/export`. */
  export(
    query?: QueryOf<EpisodeExportQuery>,
    options?: CallOptions,
  ): AsyncGenerator<Uint8Array, void, undefined>;
  /** Gets how episodes went, by environment and one more field: `GET /v1/episodes/figures`. */
  figures(query?: EpisodeFiguresQuery, options?: CallOptions): Promise<EpisodeFigures[]>;
  /** Deletes an episode with its steps: `DELETE /v1/episodes/{id}`. */
  delete(id: string, options?: CallOptions): Promise<void>;
}

const episodesPath = "/v1/episodes";
const episodePath = pathsUnder(episodesPath);

export function episodes(transport: Transport): Episodes {
  const { get, create, remove, list } = callsOf(transport);
  return {
    start: (body, options) => create(episodesPath, body, options),
    step: (id, action, options) => create(episodePath(id, "/step"), { action }, options),
    get: (id, options) => get(episodePath(id), options),
    export: (query, options) =>
      transport.chunks({ method: "GET", path: `${episodesPath}/export`, query: { ...query } }, options),
    list: (filter, options) => list(episodesPath, options, filter),
    page: (filter, { limit, after, ...options } = {}) =>
      get(episodesPath, options, { ...filter, limit, after }),
    figures: async (query, options) =>
      (await get<EpisodeFiguresResponse>(`${episodesPath}/figures`, options, query)).data,
    delete: (id, options) => remove(episodePath(id), options),
  };
}
