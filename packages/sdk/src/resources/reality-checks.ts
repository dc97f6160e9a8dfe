import type {
  EnvironmentReality,
  EnvironmentRealityQuery,
  EpisodeReality,
  RealEnvironmentListResponse,
  RealEnvironmentStatus,
  RealityCheck,
  RealityCheckDetail,
  RealityCheckRequest,
  RealityCheckRunRequest,
  RealityEpisode,
  RealityEpisodeListQuery,
  Run,
} from "@presage/contract";
import type { CallOptions, ListOptions, WriteOptions } from "../call.ts";
import { callsOf, pathsUnder } from "../resource.ts";
import type { Transport } from "../transport.ts";
import { type WaitOptions, waitUntil } from "../wait-until.ts";

/** Comparisons of the simulated and real outcomes of episodes. */
export interface RealityChecks {
  /** Lists reality checks, newest first, optionally of one environment or with one status: `GET /v1/reality-checks`. */
  list(
    options?: ListOptions & { environment?: string; status?: RealityCheck["status"] },
  ): Promise<RealityCheck[]>;
  /** Creates a reality check, of known outcomes or of episodes or recordings to replay: `POST /v1/reality-checks`. */
  create(request: RealityCheckRequest, options?: WriteOptions): Promise<RealityCheck>;
  /** Gets a reality check with its figures: `GET /v1/reality-checks/{id}`. */
  get(id: string, options?: CallOptions): Promise<RealityCheckDetail>;
  /** Waits until a reality check has ended or is paused, and also while the server restarts. Each look computes the check's figures. */
  waitUntilEnded(id: string, options?: WaitOptions<RealityCheckDetail>): Promise<RealityCheckDetail>;
  /** Lists a reality check's episodes, by position: `GET /v1/reality-checks/{id}/episodes`. */
  episodes(
    id: string,
    options?: ListOptions & { show?: RealityEpisodeListQuery["show"] },
  ): Promise<RealityEpisode[]>;
  /** Gets what really happened to an episode's actions: `GET /v1/episodes/{id}/reality`. */
  ofEpisode(id: string, options?: CallOptions): Promise<EpisodeReality>;
  /** Ends a reality check early: `POST /v1/reality-checks/{id}/cancel`. */
  cancel(id: string, options?: CallOptions): Promise<RealityCheck>;
  /** Resumes a paused reality check: `POST /v1/reality-checks/{id}/resume`. */
  resume(id: string, options?: CallOptions): Promise<RealityCheck>;
  /** Gets the run that compares what was simulated with what really happened, or makes it: `POST /v1/reality-checks/{id}/run`. */
  run(id: string, request?: RealityCheckRunRequest, options?: CallOptions): Promise<Run>;
  /** Deletes a reality check: `DELETE /v1/reality-checks/{id}`. */
  delete(id: string, options?: CallOptions): Promise<void>;
  /** Gets what all reality checks of an environment say together: `GET /v1/environments/{name}/reality`. */
  ofEnvironment(
    name: string,
    query?: EnvironmentRealityQuery,
    options?: CallOptions,
  ): Promise<EnvironmentReality>;
}

/** The real environments that the operator of the server has declared. */
export interface RealEnvironments {
  /** Lists the real environments and their condition: `GET /v1/real-environments`. */
  list(options?: CallOptions): Promise<RealEnvironmentStatus[]>;
}

export function realEnvironments(transport: Transport): RealEnvironments {
  const { get } = callsOf(transport);
  return {
    list: async (options) => (await get<RealEnvironmentListResponse>("/v1/real-environments", options)).data,
  };
}

const path = "/v1/reality-checks";
const pathOf = pathsUnder(path);

export function realityChecks(transport: Transport): RealityChecks {
  const { get, create, repeatable, remove, list } = callsOf(transport);
  return {
    list: ({ environment, status, ...options } = {}) => list(path, options, { environment, status }),
    create: (body, options) => create(path, body, options),
    get: (id, options) => get(pathOf(id), options),
    waitUntilEnded: (id, options) =>
      waitUntil<RealityCheckDetail>(
        (each) => get(pathOf(id), each),
        ({ status }) => status !== "running",
        options,
      ),
    episodes: (id, { show, ...options } = {}) => list(pathOf(id, "/episodes"), options, { show }),
    ofEpisode: (id, options) => get(pathsUnder("/v1/episodes")(id, "/reality"), options),
    cancel: (id, options) => transport.json({ method: "POST", path: pathOf(id, "/cancel") }, options),
    resume: (id, options) => transport.json({ method: "POST", path: pathOf(id, "/resume") }, options),
    run: (id, body = {}, options) => repeatable("POST", pathOf(id, "/run"), options, body),
    delete: (id, options) => remove(pathOf(id), options),
    ofEnvironment: (name, query, options) =>
      get(pathsUnder("/v1/environments")(name, "/reality"), options, query),
  };
}
