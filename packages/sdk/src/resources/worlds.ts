import type {
  RunCalibrationQuery,
  World,
  WorldCalibrationCard,
  WorldCalibrationRequest,
  WorldCreateRequest,
  WorldListResponse,
  WorldPreview,
  WorldPreviewRequest,
  WorldReviseRequest,
  WorldRevisionListResponse,
} from "@presage/contract";
import { type CallOptions, type ListOptions, underOneKey, type WriteOptions } from "../call.ts";
import { listAllPages } from "../paging.ts";
import type { Transport } from "../transport.ts";

/** Instructions, recorded examples and a model, in revisions. `predict` names one in `world`. */
export interface Worlds {
  /** Lists the worlds in their latest revisions, newest first, without archived ones: `GET /v1/worlds`. */
  list(options?: ListOptions): Promise<World[]>;
  /** Gets a world in its latest revision, or in the one that `NAME@NUMBER` names: `GET /v1/worlds/{name}`. */
  get(name: string, options?: CallOptions): Promise<World>;
  /** Creates a world, and makes its examples searchable: `POST /v1/worlds`. */
  create(request: WorldCreateRequest, options?: WriteOptions): Promise<World>;
  /** Replaces some fields, and removes those that are null, in a new revision: `PATCH /v1/worlds/{name}`. */
  revise(name: string, changes: WorldReviseRequest, options?: CallOptions): Promise<World>;
  /** Deletes a world with its revisions: `DELETE /v1/worlds/{name}`. */
  delete(name: string, options?: CallOptions): Promise<void>;
  /** Lists a world's revisions, the highest number first: `GET /v1/worlds/{name}/revisions`. */
  listRevisions(name: string, options?: ListOptions): Promise<World[]>;
  /** Fits on a finished run of its latest revision what its confidences mean, in a new revision: `POST /v1/worlds/{name}/calibrations`. */
  calibrate(name: string, request: WorldCalibrationRequest, options?: CallOptions): Promise<World>;
  /** Gets whether the confidences of its newest finished run may be trusted: `GET /v1/worlds/{name}/calibration`. */
  calibration(
    name: string,
    query?: RunCalibrationQuery,
    options?: CallOptions,
  ): Promise<WorldCalibrationCard>;
  /** Says what a prediction would send, and which examples it leans on; asks no model: `POST /v1/worlds/{name}/preview`. */
  preview(name: string, request: WorldPreviewRequest, options?: CallOptions): Promise<WorldPreview>;
}

const path = "/v1/worlds";

export function worlds({ json }: Transport): Worlds {
  const pathOf = (name: string, rest = "") => `${path}/${encodeURIComponent(name)}${rest}`;
  const get = (of: string, query = {}) => ({ method: "GET", path: of, query }) as const;

  return {
    list: ({ atMost, ...options } = {}) =>
      listAllPages((query) => json<WorldListResponse>(get(path, query), options), atMost),
    get: (name, options) => json(get(pathOf(name)), options),
    create: (body, options) => json({ method: "POST", path, body, ...underOneKey(options) }, options),
    revise: (name, body, options) => json({ method: "PATCH", path: pathOf(name), body }, options),
    async delete(name, options) {
      await json({ method: "DELETE", path: pathOf(name) }, options);
    },
    listRevisions: (name, { atMost, ...options } = {}) =>
      listAllPages(
        (query) => json<WorldRevisionListResponse>(get(pathOf(name, "/revisions"), query), options),
        atMost,
      ),
    calibrate: (name, body, options) =>
      json({ method: "POST", path: pathOf(name, "/calibrations"), body }, options),
    calibration: (name, query = {}, options) =>
      json(get(pathOf(name, "/calibration"), { ...query }), options),
    preview: (name, body, options) =>
      json({ method: "POST", path: pathOf(name, "/preview"), body, isRepeatable: true }, options),
  };
}
