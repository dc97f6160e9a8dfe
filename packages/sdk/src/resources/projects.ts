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
import type { CallOptions, WriteOptions } from "../call.ts";
import { listAllPages, readAllOffsets } from "../paging.ts";
import { callsOf, pathsUnder } from "../resource.ts";
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

export function projects(transport: Transport): Projects {
  const { get, create } = callsOf(transport);
  return {
    list: (options) =>
      readAllOffsets(
        async (query) => (await get<ProjectListResponse>(projectsPath, options, query)).projects,
      ),
    get: async (id, options) => (await get<ProjectResponse>(pathsUnder(projectsPath)(id), options)).project,
    create: (name, options) => create(projectsPath, { name }, options),
  };
}

/** Selects experiments. */
export interface ExperimentFilter {
  /** Only experiments of this project. */
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
const experimentPath = pathsUnder(experimentsPath);

export function experiments(transport: Transport): Experiments {
  const { get, create, repeatable } = callsOf(transport);
  const one = async (response: Promise<ExperimentResponse>) => (await response).experiment;
  return {
    list: async (filter, options) =>
      (await get<ExperimentListResponse>(experimentsPath, options, filter)).experiments,
    get: (id, options) => one(get(experimentPath(id), options)),
    create: (body, options) => one(create(experimentsPath, body, options)),
    update: (id, body, options) => one(repeatable("POST", experimentPath(id), options, body)),
  };
}

/** The applications that have results. */
export interface Apps {
  /** Lists all apps that have results, by name, over all pages: `GET /v1/apps`. */
  list(options?: CallOptions): Promise<AppListResponse["apps"]>;
}

export function apps(transport: Transport): Apps {
  const { get } = callsOf(transport);
  return {
    list: (options) =>
      listAllPages(async (query) => {
        const { apps, next } = await get<AppListResponse>("/v1/apps", options, query);
        return { data: apps, next };
      }),
  };
}
