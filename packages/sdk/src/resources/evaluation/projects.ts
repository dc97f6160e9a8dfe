import type { Project, ProjectListResponse, ProjectResponse } from "@presage/contract";
import type { CallOptions, WriteOptions } from "../../call.ts";
import { readAllOffsets } from "../../paging/read-all-offsets.ts";
import type { Transport } from "../../transport.ts";
import { underOneKey } from "../../under-one-key.ts";

export interface Projects {
  /** Lists all projects, newest first: `GET /v1/projects`. */
  list(options?: CallOptions): Promise<Project[]>;
  /** Gets one project: `GET /v1/projects/{id}`. */
  get(id: string, options?: CallOptions): Promise<Project>;
  /** Creates a project, or gets the one of this name: `POST /v1/projects`. */
  create(name: string, options?: WriteOptions): Promise<Project>;
}

const path = "/v1/projects";

export function projects({ json }: Transport): Projects {
  return {
    list: (options) =>
      readAllOffsets(async (query) => {
        return (await json<ProjectListResponse>({ method: "GET", path, query }, options)).projects;
      }),
    async get(id, options) {
      const call = { method: "GET", path: `${path}/${encodeURIComponent(id)}` } as const;
      return (await json<ProjectResponse>(call, options)).project;
    },
    create: (name, options) =>
      json<Project>({ method: "POST", path, body: { name }, ...underOneKey(options) }, options),
  };
}
