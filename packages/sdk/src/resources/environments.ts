import type {
  Environment,
  EnvironmentConfig,
  EnvironmentCreateRequest,
  EnvironmentDetail,
  EnvironmentListResponse,
  EnvironmentRevision,
  EnvironmentRevisionListResponse,
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
import { listAllPages } from "../paging.ts";
import type { Transport } from "../transport.ts";

/** Environments that a world model plays, and their tasks. */
export interface Environments {
  /** Lists all environments, newest first, and the built-in one: `GET /v1/environments`. */
  list(options?: ListOptions): Promise<Environment[]>;
  /** Gets one environment in its latest revision: `GET /v1/environments/{name}`. */
  get(name: string, options?: CallOptions): Promise<EnvironmentDetail>;
  /** Lists what it was made of in each revision, the highest number first: `GET /v1/environments/{name}/revisions`. */
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

export function environments({ json }: Transport): Environments {
  const pathOf = (name: string, rest = "") => `${environmentsPath}/${encodeURIComponent(name)}${rest}`;
  const get = (of: string, query = {}) => ({ method: "GET", path: of, query }) as const;

  return {
    list: ({ atMost, ...options } = {}) =>
      listAllPages((query) => json<EnvironmentListResponse>(get(environmentsPath, query), options), atMost),
    get: (name, options) => json(get(pathOf(name)), options),
    listRevisions: (name, { atMost, ...options } = {}) =>
      listAllPages(
        (query) => json<EnvironmentRevisionListResponse>(get(pathOf(name, "/revisions"), query), options),
        atMost,
      ),
    create: (body, options) =>
      json({ method: "POST", path: environmentsPath, body, ...underOneKey(options) }, options),
    revise: (name, body, options) => json({ method: "PATCH", path: pathOf(name), body }, options),
    async delete(name, { withEpisodes, ...options } = {}) {
      const query = { with_episodes: withEpisodes };
      await json({ method: "DELETE", path: pathOf(name), query }, options);
    },
    addTasks: (name, tasks, options) =>
      json(
        {
          method: "POST",
          path: pathOf(name, "/tasks"),
          content: Array.isArray(tasks)
            ? tasks.map((task) => `${JSON.stringify(task)}\n`).join("")
            : JSON.stringify(tasks),
          ...underOneKey(options),
        },
        options,
      ),
    pageOfTasks: (name, split, { limit, after, ...options } = {}) =>
      json(get(pathOf(name, "/tasks"), { split, limit, after }), options),
    listTasks: (name, split, { atMost, ...options } = {}) =>
      listAllPages(
        (query) => json<TaskListResponse>(get(pathOf(name, "/tasks"), { split, ...query }), options),
        atMost,
      ),
  };
}

/** Which episodes. */
export interface EpisodeFilter extends Omit<EpisodeListQuery, "revision" | "index" | "limit" | "after"> {
  revision?: number | undefined;
  /** The task's place in its split. */
  index?: number | undefined;
}

/** Episodes in environments, step by step. */
export interface Episodes {
  /** Starts an episode with a task of an environment: `POST /v1/episodes`. */
  start(request: EpisodeCreateRequest, options?: WriteOptions): Promise<EpisodeStart>;
  /** Takes a step, once however often it is retried: `POST /v1/episodes/{id}/step`. */
  step(id: string, action: string, options?: WriteOptions): Promise<StepResponse>;
  /** Gets an episode with its steps: `GET /v1/episodes/{id}`. */
  get(id: string, options?: CallOptions): Promise<Episode>;
  /** Lists all episodes that match, newest first: `GET /v1/episodes`. */
  list(filter?: EpisodeFilter, options?: ListOptions): Promise<EpisodeSummary[]>;
  /** Gets one page of the episodes that match: `GET /v1/episodes`. */
  page(filter?: EpisodeFilter, options?: PageOptions): Promise<EpisodeListResponse>;
  /** Yields the episodes that match as a file of a format, as it arrives: `GET /v1/episodes/export`. */
  export(
    query?: QueryOf<EpisodeExportQuery>,
    options?: CallOptions,
  ): AsyncGenerator<Uint8Array, void, undefined>;
  /** How episodes went, by environment and one thing more: `GET /v1/episodes/figures`. */
  figures(query?: EpisodeFiguresQuery, options?: CallOptions): Promise<EpisodeFigures[]>;
  /** Deletes an episode with its steps: `DELETE /v1/episodes/{id}`. */
  delete(id: string, options?: CallOptions): Promise<void>;
}

const episodesPath = "/v1/episodes";

export function episodes({ json, chunks }: Transport): Episodes {
  const pathOf = (id: string, rest = "") => `${episodesPath}/${encodeURIComponent(id)}${rest}`;

  return {
    start: (body, options) =>
      json({ method: "POST", path: episodesPath, body, ...underOneKey(options) }, options),
    step: (id, action, options) =>
      json({ method: "POST", path: pathOf(id, "/step"), body: { action }, ...underOneKey(options) }, options),
    get: (id, options) => json({ method: "GET", path: pathOf(id) }, options),
    export: (query, options) =>
      chunks({ method: "GET", path: `${episodesPath}/export`, query: { ...query } }, options),
    list: (filter, { atMost, ...options } = {}) =>
      listAllPages(
        (query) =>
          json<EpisodeListResponse>(
            { method: "GET", path: episodesPath, query: { ...filter, ...query } },
            options,
          ),
        atMost,
      ),
    page: (filter, { limit, after, ...options } = {}) =>
      json({ method: "GET", path: episodesPath, query: { ...filter, limit, after } }, options),
    async figures(query, options) {
      const call = { method: "GET", path: `${episodesPath}/figures`, query: { ...query } } as const;
      return (await json<EpisodeFiguresResponse>(call, options)).data;
    },
    async delete(id, options) {
      await json({ method: "DELETE", path: pathOf(id) }, options);
    },
  };
}
