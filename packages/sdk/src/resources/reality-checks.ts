import type {
  EnvironmentReality,
  EnvironmentRealityQuery,
  EpisodeReality,
  RealEnvironmentListResponse,
  RealEnvironmentStatus,
  RealityCheck,
  RealityCheckDetail,
  RealityCheckListResponse,
  RealityCheckRequest,
  RealityCheckRunRequest,
  RealityEpisode,
  RealityEpisodeListQuery,
  RealityEpisodeListResponse,
  Run,
} from "@presage/contract";
import { type CallOptions, type ListOptions, underOneKey, type WriteOptions } from "../call.ts";
import { listAllPages } from "../paging.ts";
import type { Transport } from "../transport.ts";

/** Simulated against real outcomes of episodes. */
export interface RealityChecks {
  /** Lists reality checks, newest first, of one environment if it is named: `GET /v1/reality-checks`. */
  list(options?: ListOptions & { environment?: string }): Promise<RealityCheck[]>;
  /** Stores episodes whose two outcomes are known: `POST /v1/reality-checks`. */
  create(request: RealityCheckRequest, options?: WriteOptions): Promise<RealityCheck>;
  /** Gets a reality check with what it says: `GET /v1/reality-checks/{id}`. */
  get(id: string, options?: CallOptions): Promise<RealityCheckDetail>;
  /** Lists a reality check's episodes, by position: `GET /v1/reality-checks/{id}/episodes`. */
  episodes(
    id: string,
    options?: ListOptions & { show?: RealityEpisodeListQuery["show"] },
  ): Promise<RealityEpisode[]>;
  /** Gets what really happened to an episode's actions: `GET /v1/episodes/{id}/reality`. */
  ofEpisode(id: string, options?: CallOptions): Promise<EpisodeReality>;
  /** Ends a reality check before its time: `POST /v1/reality-checks/{id}/cancel`. */
  cancel(id: string, options?: CallOptions): Promise<RealityCheck>;
  /** Goes on with a paused reality check: `POST /v1/reality-checks/{id}/resume`. */
  resume(id: string, options?: CallOptions): Promise<RealityCheck>;
  /** Gets the run of what really happened and what was simulated, which may be made by this: `POST /v1/reality-checks/{id}/run`. */
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
  /** Lists them, with how they do: `GET /v1/real-environments`. */
  list(options?: CallOptions): Promise<RealEnvironmentStatus[]>;
}

export function realEnvironments({ json }: Transport): RealEnvironments {
  return {
    async list(options) {
      const { data } = await json<RealEnvironmentListResponse>(
        { method: "GET", path: "/v1/real-environments" },
        options,
      );
      return data;
    },
  };
}

const path = "/v1/reality-checks";

export function realityChecks({ json }: Transport): RealityChecks {
  const get = (of: string, query = {}) => ({ method: "GET", path: of, query }) as const;
  const pathOf = (id: string) => `${path}/${encodeURIComponent(id)}`;
  return {
    list: ({ atMost, environment, ...options } = {}) =>
      listAllPages(
        (query) => json<RealityCheckListResponse>(get(path, { ...query, environment }), options),
        atMost,
      ),
    create: (body, options) => json({ method: "POST", path, body, ...underOneKey(options) }, options),
    get: (id, options) => json(get(pathOf(id)), options),
    episodes: (id, { atMost, show, ...options } = {}) =>
      listAllPages(
        (query) =>
          json<RealityEpisodeListResponse>(get(`${pathOf(id)}/episodes`, { ...query, show }), options),
        atMost,
      ),
    ofEpisode: (id, options) => json(get(`/v1/episodes/${encodeURIComponent(id)}/reality`), options),
    cancel: (id, options) => json({ method: "POST", path: `${pathOf(id)}/cancel` }, options),
    resume: (id, options) => json({ method: "POST", path: `${pathOf(id)}/resume` }, options),
    run: (id, body = {}, options) =>
      json({ method: "POST", path: `${pathOf(id)}/run`, body, isRepeatable: true }, options),
    async delete(id, options) {
      await json({ method: "DELETE", path: pathOf(id) }, options);
    },
    ofEnvironment: (name, query = {}, options) =>
      json(get(`/v1/environments/${encodeURIComponent(name)}/reality`, { ...query }), options),
  };
}
