import type {
  PredictionExportQuery,
  StoredPrediction,
  StoredPredictionCountResponse,
  StoredPredictionDeleteQuery,
  StoredPredictionDeleteResponse,
  StoredPredictionDetail,
  StoredPredictionListQuery,
  StoredPredictionListResponse,
  StoredPredictionValuesResponse,
} from "@presage/contract";
import type { CallOptions, QueryOf } from "../call.ts";
import { callsOf, pathsUnder } from "../resource.ts";
import type { Transport } from "../transport.ts";

/** Which predictions; without any field, all. */
export type StoredPredictionFilter = Omit<
  StoredPredictionListQuery,
  "limit" | "after" | "text_limit" | "order"
>;

/** Which predictions of live traffic from before a time; without any field, all. */
export type LivePredictionFilter = Omit<StoredPredictionDeleteQuery, "source" | "before">;

/** Which page of stored predictions, and how much of their texts. */
export interface StoredPredictionPage {
  /** The most predictions of the page. Default: 100. */
  limit?: number | undefined;
  /** The `next` of an earlier page. */
  after?: string | undefined;
  /** With each prediction its verdicts and cost, and this many characters of the action, of what was predicted or why it failed, and of what was expected. */
  text_limit?: number | undefined;
  /** Which come first. Default: the newest. */
  order?: "newest" | "oldest" | undefined;
}

/** Predictions that were stored, with what was asked. */
export interface StoredPredictions {
  /** Lists one page, newest first: `GET /v1/predictions`. `next` is null on the last page. */
  list(
    filter?: StoredPredictionFilter & StoredPredictionPage,
    options?: CallOptions,
  ): Promise<StoredPredictionListResponse>;
  /** Yields all, newest first, page by page: `GET /v1/predictions`. */
  iterate(
    filter?: StoredPredictionFilter,
    options?: CallOptions,
  ): AsyncGenerator<StoredPrediction, void, undefined>;
  /** Counts those that match, up to 10,000: `GET /v1/predictions/count`. */
  count(filter?: StoredPredictionFilter, options?: CallOptions): Promise<StoredPredictionCountResponse>;
  /** Lists for each filter the values that those matching all others have, with counts: `GET /v1/predictions/values`. */
  values(filter?: StoredPredictionFilter, options?: CallOptions): Promise<StoredPredictionValuesResponse>;
  /** Yields those that match as spans in OTLP's JSON, one a line, as they arrive: `GET /v1/predictions/export`. */
  export(
    query?: QueryOf<PredictionExportQuery>,
    options?: CallOptions,
  ): AsyncGenerator<Uint8Array, void, undefined>;
  /** Gets one with what was asked and answered: `GET /v1/predictions/{id}`. */
  get(id: string, options?: CallOptions): Promise<StoredPredictionDetail>;
  /** Deletes one of live traffic: `DELETE /v1/predictions/{id}`. */
  delete(id: string, options?: CallOptions): Promise<void>;
  /** Deletes those of live traffic from before a time (ISO 8601) that match and returns how many: `DELETE /v1/predictions`, until none remain. */
  deleteLive(before: string, options?: CallOptions & { filter?: LivePredictionFilter }): Promise<number>;
}

const path = "/v1/predictions";
const pathOf = pathsUnder(path);

export function storedPredictions(transport: Transport): StoredPredictions {
  const { get, remove, iterate } = callsOf(transport);
  return {
    list: (filter, options) => get(path, options, filter),
    iterate: (filter, options) => iterate(path, options, { ...filter, limit: 1_000 }),
    count: (filter, options) => get(`${path}/count`, options, filter),
    values: (filter, options) => get(`${path}/values`, options, filter),
    get: (id, options) => get(pathOf(id), options),
    export: (query, options) =>
      transport.chunks({ method: "GET", path: `${path}/export`, query: { ...query } }, options),
    delete: (id, options) => remove(pathOf(id), options),
    async deleteLive(before, { filter, ...options } = {}) {
      const call = { method: "DELETE", path, query: { ...filter, source: "live", before } } as const;
      let deleted = 0;
      for (;;) {
        const part = await transport.json<StoredPredictionDeleteResponse>(call, options);
        deleted += part.deleted;
        if (!part.has_more) return deleted;
      }
    },
  };
}

/** @deprecated Use `StoredPrediction`. */
export type KeptPrediction = StoredPrediction;
/** @deprecated Use `StoredPredictionDetail`. */
export type KeptPredictionDetail = StoredPredictionDetail;
/** @deprecated Use `StoredPredictionValuesResponse`. */
export type KeptPredictionValuesResponse = StoredPredictionValuesResponse;
/** @deprecated Use `StoredPredictionFilter`. */
export type KeptPredictionFilter = StoredPredictionFilter;
/** @deprecated Use `StoredPredictionPage`. */
export type KeptPredictionPage = StoredPredictionPage;
