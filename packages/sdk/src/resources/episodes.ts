import type {
  Episode,
  EpisodeCreateRequest,
  EpisodeListResponse,
  EpisodeStart,
  EpisodeSummary,
  StepResponse,
} from "@presage/contract";
import type { CallOptions, ListOptions, WriteOptions } from "../call.ts";
import { listAllPages } from "../paging/list-all-pages.ts";
import type { Transport } from "../transport.ts";
import { underOneKey } from "../under-one-key.ts";

export interface Episodes {
  /** Starts an episode with a task of an environment: `POST /v1/episodes`. */
  start(request: EpisodeCreateRequest, options?: WriteOptions): Promise<EpisodeStart>;
  /** Takes a step, once however often it is retried: `POST /v1/episodes/{id}/step`. */
  step(id: string, action: string, options?: WriteOptions): Promise<StepResponse>;
  /** Gets an episode with its steps: `GET /v1/episodes/{id}`. */
  get(id: string, options?: CallOptions): Promise<Episode>;
  /** Lists all episodes, newest first, of one environment if it is named: `GET /v1/episodes`. */
  list(filter?: { environment?: string | undefined }, options?: ListOptions): Promise<EpisodeSummary[]>;
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
    get: (id, options) => json({ method: "GET", path: pathOf(id), isRepeatable: true }, options),
    list: (filter, { atMost, ...options } = {}) =>
      listAllPages(
        (query) =>
          json<EpisodeListResponse>(
            { method: "GET", path, query: { ...filter, ...query }, isRepeatable: true },
            options,
          ),
        ({ data }) => data,
        atMost,
      ),
    async delete(id, options) {
      await json({ method: "DELETE", path: pathOf(id), isRepeatable: false }, options);
    },
  };
}
