import type {
  Environment,
  EnvironmentConfig,
  EnvironmentCreateRequest,
  EnvironmentListResponse,
  EnvironmentRevision,
  EnvironmentRevisionListResponse,
  EnvironmentTask,
  TaskLine,
  TaskListResponse,
  TaskSplitName,
  TasksAdded,
  TasksFromDataset,
} from "@presage/contract";
import type { CallOptions, ListOptions, WriteOptions } from "../call.ts";
import { listAllPages } from "../paging/list-all-pages.ts";
import type { Transport } from "../transport.ts";
import { underOneKey } from "../under-one-key.ts";
import type { PageOptions } from "./runs/datasets.ts";

export interface Environments {
  /** Lists all environments, newest first, and the built-in one: `GET /v1/environments`. */
  list(options?: ListOptions): Promise<Environment[]>;
  /** Gets one environment in its latest revision: `GET /v1/environments/{name}`. */
  get(name: string, options?: CallOptions): Promise<Environment>;
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

const path = "/v1/environments";

export function environments({ json }: Transport): Environments {
  const pathOf = (name: string, rest = "") => `${path}/${encodeURIComponent(name)}${rest}`;
  const get = (of: string, query = {}) => ({ method: "GET", path: of, query }) as const;

  return {
    list: ({ atMost, ...options } = {}) =>
      listAllPages((query) => json<EnvironmentListResponse>(get(path, query), options), atMost),
    get: (name, options) => json(get(pathOf(name)), options),
    listRevisions: (name, { atMost, ...options } = {}) =>
      listAllPages(
        (query) => json<EnvironmentRevisionListResponse>(get(pathOf(name, "/revisions"), query), options),
        atMost,
      ),
    create: (body, options) => json({ method: "POST", path, body, ...underOneKey(options) }, options),
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
