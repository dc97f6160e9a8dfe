import type {
  Episode,
  EpisodeCreateRequest,
  EpisodeFigures,
  EpisodeFiguresQuery,
  EpisodeFiguresResponse,
  EpisodeListQuery,
  EpisodeListResponse,
  EpisodeStart,
  EpisodeSummary,
  StepResponse,
} from "@presage/contract";
import type { CallOptions, ListOptions, WriteOptions } from "../call.ts";
import { listAllPages } from "../paging/list-all-pages.ts";
import type { Transport } from "../transport.ts";
import { underOneKey } from "../under-one-key.ts";
import type { PageOptions } from "./runs/datasets.ts";

/** Which episodes. */
export interface EpisodeFilter extends Omit<EpisodeListQuery, "revision" | "index" | "limit" | "after"> {
  revision?: number | undefined;
  /** The task's place in its split. */
  index?: number | undefined;
}

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
  /** How episodes went, by environment and one thing more: `GET /v1/episodes/figures`. */
  figures(query?: EpisodeFiguresQuery, options?: CallOptions): Promise<EpisodeFigures[]>;
  /** Deletes an episode with its steps: `DELETE /v1/episodes/{id}`. */
  delete(id: string, options?: CallOptions): Promise<void>;
}

const path = "/v1/episodes";

export function episodes({ json }: Transport): Episodes {
  const pathOf = (id: string, rest = "") => `${path}/${encodeURIComponent(id)}${rest}`;

  return {
    start: (body, options) => json({ method: "POST", path, body, ...underOneKey(options) }, options),
    step: (id, action, options) =>
      json({ method: "POST", path: pathOf(id, "/step"), body: { action }, ...underOneKey(options) }, options),
    get: (id, options) => json({ method: "GET", path: pathOf(id) }, options),
    list: (filter, { atMost, ...options } = {}) =>
      listAllPages(
        (query) =>
          json<EpisodeListResponse>({ method: "GET", path, query: { ...filter, ...query } }, options),
        atMost,
      ),
    page: (filter, { limit, after, ...options } = {}) =>
      json({ method: "GET", path, query: { ...filter, limit, after } }, options),
    async figures(query, options) {
      const call = { method: "GET", path: `${path}/figures`, query: { ...query } } as const;
      return (await json<EpisodeFiguresResponse>(call, options)).data;
    },
    async delete(id, options) {
      await json({ method: "DELETE", path: pathOf(id) }, options);
    },
  };
}
