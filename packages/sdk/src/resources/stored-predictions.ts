import type {
  KeptPrediction,
  KeptPredictionCountResponse,
  KeptPredictionDeleteQuery,
  KeptPredictionDeleteResponse,
  KeptPredictionDetail,
  KeptPredictionListQuery,
  KeptPredictionListResponse,
  KeptPredictionValuesResponse,
} from "@presage/contract";
import type { CallOptions } from "../call.ts";
import { iterateAllPages } from "../paging.ts";
import type { Transport } from "../transport.ts";

/** Which predictions; without any field, all. */
export type KeptPredictionFilter = Omit<KeptPredictionListQuery, "limit" | "after" | "text_limit">;

/** Which predictions of live traffic from before a time; without any field, all. */
export type LivePredictionFilter = Omit<KeptPredictionDeleteQuery, "source" | "before">;

export interface KeptPredictionPage {
  /** The most predictions of the page. Default: 100. */
  limit?: number | undefined;
  /** The `next` of an earlier page. */
  after?: string | undefined;
  /** With each prediction, this many characters of what was predicted or why it failed. */
  text_limit?: number | undefined;
}

export interface KeptPredictions {
  /** Lists one page, newest first: `GET /v1/predictions`. `next` is null on the last page. */
  list(
    filter?: KeptPredictionFilter & KeptPredictionPage,
    options?: CallOptions,
  ): Promise<KeptPredictionListResponse>;
  /** Yields all, newest first, page by page: `GET /v1/predictions`. */
  iterate(
    filter?: KeptPredictionFilter,
    options?: CallOptions,
  ): AsyncGenerator<KeptPrediction, void, undefined>;
  /** Counts those that match, up to 10,000: `GET /v1/predictions/count`. */
  count(filter?: KeptPredictionFilter, options?: CallOptions): Promise<KeptPredictionCountResponse>;
  /** Lists for each filter the values that those matching all others have, with counts: `GET /v1/predictions/values`. */
  values(filter?: KeptPredictionFilter, options?: CallOptions): Promise<KeptPredictionValuesResponse>;
  /** Gets one with what was asked and answered: `GET /v1/predictions/{id}`. */
  get(id: string, options?: CallOptions): Promise<KeptPredictionDetail>;
  /** Deletes one of live traffic: `DELETE /v1/predictions/{id}`. */
  delete(id: string, options?: CallOptions): Promise<void>;
  /** Deletes those of live traffic from before a time (ISO 8601) that match and returns how many: `DELETE /v1/predictions`, until none remain. */
  deleteLive(before: string, options?: CallOptions & { filter?: LivePredictionFilter }): Promise<number>;
}

const path = "/v1/predictions";

export function keptPredictions({ json }: Transport): KeptPredictions {
  const pathOf = (id: string) => `${path}/${encodeURIComponent(id)}`;
  const list = (query: KeptPredictionFilter & KeptPredictionPage = {}, options?: CallOptions) =>
    json<KeptPredictionListResponse>({ method: "GET", path, query: { ...query } }, options);

  return {
    list,
    iterate: (filter, options) =>
      iterateAllPages((query) => list({ ...filter, limit: 1_000, ...query }, options)),
    count: (filter, options) => json({ method: "GET", path: `${path}/count`, query: { ...filter } }, options),
    values: (filter, options) =>
      json({ method: "GET", path: `${path}/values`, query: { ...filter } }, options),
    get: (id, options) => json({ method: "GET", path: pathOf(id) }, options),
    async delete(id, options) {
      await json({ method: "DELETE", path: pathOf(id) }, options);
    },
    async deleteLive(before, { filter, ...options } = {}) {
      let deleted = 0;
      for (;;) {
        const query = { ...filter, source: "live", before };
        const part = await json<KeptPredictionDeleteResponse>({ method: "DELETE", path, query }, options);
        deleted += part.deleted;
        if (!part.has_more) return deleted;
      }
    },
  };
}
