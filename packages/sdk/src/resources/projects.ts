import type {
  AppListResponse,
  Experiment,
  ExperimentCreateRequest,
  ExperimentListResponse,
  ExperimentResponse,
  ExperimentUpdateRequest,
  Project,
  ProjectListResponse,
  ProjectResponse,
} from "@presage/contract";
import { type Call, type CallOptions, underOneKey, type WriteOptions } from "../call.ts";
import { listAllPages, readAllOffsets } from "../paging.ts";
import type { Transport } from "../transport.ts";

/** Projects, to which experiments belong. */
export interface Projects {
  /** Lists all projects, newest first: `GET /v1/projects`. */
  list(options?: CallOptions): Promise<Project[]>;
  /** Gets one project: `GET /v1/projects/{id}`. */
  get(id: string, options?: CallOptions): Promise<Project>;
  /** Creates a project, or gets the one of this name: `POST /v1/projects`. */
  create(name: string, options?: WriteOptions): Promise<Project>;
}

const projectsPath = "/v1/projects";

export function projects({ json }: Transport): Projects {
  return {
    list: (options) =>
      readAllOffsets(async (query) => {
        return (await json<ProjectListResponse>({ method: "GET", path: projectsPath, query }, options))
          .projects;
      }),
    async get(id, options) {
      const call = { method: "GET", path: `${projectsPath}/${encodeURIComponent(id)}` } as const;
      return (await json<ProjectResponse>(call, options)).project;
    },
    create: (name, options) =>
      json<Project>({ method: "POST", path: projectsPath, body: { name }, ...underOneKey(options) }, options),
  };
}

/** Selects experiments. */
export interface ExperimentFilter {
  /** Only this project's. */
  project_id?: string | undefined;
  /** 1 to 1,000. Default: 1,000. */
  limit?: number | undefined;
  offset?: number | undefined;
}

/** Experiments: runs whose results clients send. */
export interface Experiments {
  /** Lists experiments, newest first: `GET /v1/experiments`. Pages over 64 MB are refused with 413: lower `limit`. */
  list(filter?: ExperimentFilter, options?: CallOptions): Promise<Experiment[]>;
  /** Gets one experiment: `GET /v1/experiments/{id}`. */
  get(id: string, options?: CallOptions): Promise<Experiment>;
  /** Creates an experiment. Results belong to it if they name it in `experiment_id`: `POST /v1/experiments`. */
  create(request: ExperimentCreateRequest, options?: WriteOptions): Promise<Experiment>;
  /** Replaces the metadata: `POST /v1/experiments/{id}`. */
  update(id: string, request: ExperimentUpdateRequest, options?: CallOptions): Promise<Experiment>;
}

const experimentsPath = "/v1/experiments";

export function experiments({ json }: Transport): Experiments {
  const pathOf = (id: string) => `${experimentsPath}/${encodeURIComponent(id)}`;

  async function one(call: Call, options: CallOptions | undefined): Promise<Experiment> {
    return (await json<ExperimentResponse>(call, options)).experiment;
  }

  return {
    async list(filter, options) {
      const call = { method: "GET", path: experimentsPath, query: { ...filter } } as const;
      return (await json<ExperimentListResponse>(call, options)).experiments;
    },
    get: (id, options) => one({ method: "GET", path: pathOf(id) }, options),
    create: (body, options) =>
      one({ method: "POST", path: experimentsPath, body, ...underOneKey(options) }, options),
    update: (id, body, options) =>
      one({ method: "POST", path: pathOf(id), body, isRepeatable: true }, options),
  };
}

/** The applications that have results. */
export interface Apps {
  /** Lists all apps that have results, by name, over all pages: `GET /v1/apps`. */
  list(options?: CallOptions): Promise<AppListResponse["apps"]>;
}

export function apps({ json }: Transport): Apps {
  return {
    list: (options) =>
      listAllPages(async (query) => {
        const call = { method: "GET", path: "/v1/apps", query } as const;
        const { apps, next } = await json<AppListResponse>(call, options);
        return { data: apps, next };
      }),
  };
}
