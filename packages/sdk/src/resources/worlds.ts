import type {
  RunCalibrationQuery,
  World,
  WorldCalibrationCard,
  WorldCalibrationRequest,
  WorldCoverage,
  WorldCreateRequest,
  WorldPreview,
  WorldPreviewRequest,
  WorldReviseRequest,
} from "@presage/contract";
import type { CallOptions, ListOptions, WriteOptions } from "../call.ts";
import { callsOf, pathsUnder } from "../resource.ts";
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
  /** Calibrates a world's confidences on a finished run of its latest revision, in a new revision: `POST /v1/worlds/{name}/calibrations`. */
  calibrate(name: string, request: WorldCalibrationRequest, options?: CallOptions): Promise<World>;
  /** Gets whether the confidences of a world's newest finished run can be trusted: `GET /v1/worlds/{name}/calibration`. */
  calibration(
    name: string,
    query?: RunCalibrationQuery,
    options?: CallOptions,
  ): Promise<WorldCalibrationCard>;
  /** Gets how well a world's examples cover what its newest finished run asked: `GET /v1/worlds/{name}/coverage`. */
  coverage(name: string, query?: RunCalibrationQuery, options?: CallOptions): Promise<WorldCoverage>;
  /** Says what a prediction would send, and which examples it leans on, without asking a model: `POST /v1/worlds/{name}/preview`. */
  preview(name: string, request: WorldPreviewRequest, options?: CallOptions): Promise<WorldPreview>;
}

const path = "/v1/worlds";
const pathOf = pathsUnder(path);

export function worlds(transport: Transport): Worlds {
  const { get, create, repeatable, remove, list } = callsOf(transport);
  return {
    list: (options) => list(path, options),
    get: (name, options) => get(pathOf(name), options),
    create: (body, options) => create(path, body, options),
    revise: (name, body, options) => transport.json({ method: "PATCH", path: pathOf(name), body }, options),
    delete: (name, options) => remove(pathOf(name), options),
    listRevisions: (name, options) => list(pathOf(name, "/revisions"), options),
    calibrate: (name, body, options) =>
      transport.json({ method: "POST", path: pathOf(name, "/calibrations"), body }, options),
    calibration: (name, query, options) => get(pathOf(name, "/calibration"), options, query),
    coverage: (name, query, options) => get(pathOf(name, "/coverage"), options, query),
    preview: (name, body, options) => repeatable("POST", pathOf(name, "/preview"), options, body),
  };
}
