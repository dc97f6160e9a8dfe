import type {
  Experiment,
  ExperimentCreateRequest,
  ExperimentListResponse,
  ExperimentResponse,
  ExperimentUpdateRequest,
} from "@presage/contract";
import type { Call, CallOptions, WriteOptions } from "../../call.ts";
import type { Transport } from "../../transport.ts";
import { underOneKey } from "../../under-one-key.ts";

/** Selects experiments. */
export interface ExperimentFilter {
  /** Only this project's. */
  project_id?: string | undefined;
  /** 1 to 1,000. Default: 1,000. */
  limit?: number | undefined;
  offset?: number | undefined;
}

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

const path = "/v1/experiments";

export function experiments({ json }: Transport): Experiments {
  const pathOf = (id: string) => `${path}/${encodeURIComponent(id)}`;

  async function one(call: Call, options: CallOptions | undefined): Promise<Experiment> {
    return (await json<ExperimentResponse>(call, options)).experiment;
  }

  return {
    async list(filter, options) {
      const call = { method: "GET", path, query: { ...filter } } as const;
      return (await json<ExperimentListResponse>(call, options)).experiments;
    },
    get: (id, options) => one({ method: "GET", path: pathOf(id) }, options),
    create: (body, options) => one({ method: "POST", path, body, ...underOneKey(options) }, options),
    update: (id, body, options) =>
      one({ method: "POST", path: pathOf(id), body, isRepeatable: true }, options),
  };
}
