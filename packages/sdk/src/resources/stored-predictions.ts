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

/** Selects predictions; all of them if no field is set. */
export type StoredPredictionFilter = Omit<
  StoredPredictionListQuery,
  "limit" | "after" | "text_limit" | "order"
>;

/** Selects predictions of live traffic from before a time; all of them if no field is set. */
export type LivePredictionFilter = Omit<StoredPredictionDeleteQuery, "source" | "before">;

/** Selects a page of stored predictions, and how much of their texts to return. */
export interface StoredPredictionPage {
  /** The most predictions on the page. Default: 100. */
  limit?: number | undefined;
  /** The `next` of an earlier page. */
  after?: string | undefined;
  /** Returns with each prediction its verdicts and cost, and this many characters of the action, the prediction or its error, and the expected next state. */
  text_limit?: number | undefined;
  /** Which come first. Default: the newest. */
  order?: "newest" | "oldest" | undefined;
}

/** Stored predictions, with what was asked. */
export interface StoredPredictions {
  /** Lists one page, newest first: `GET /v1/predictions`. `next` is null on the last page. */
  list(
    filter?: StoredPredictionFilter & StoredPredictionPage,
    options?: CallOptions,
  ): Promise<StoredPredictionListResponse>;
  /** Yields all matching predictions, newest first, page by page: `GET /v1/predictions`. */
  iterate(
    filter?: StoredPredictionFilter,
    options?: CallOptions,
  ): AsyncGenerator<StoredPrediction, void, undefined>;
  /** Counts matching predictions, up to 10,000: `GET /v1/predictions/count`. */
  count(filter?: StoredPredictionFilter, options?: CallOptions): Promise<StoredPredictionCountResponse>;
  /** Lists, for each filter, the values that exist with all other filters applied, with counts: `GET /v1/predictions/values`. */
  values(filter?: StoredPredictionFilter, options?: CallOptions): Promise<StoredPredictionValuesResponse>;
  /** Yields matching predictions as spans in OTLP JSON, one per line, as they arrive: `GET /v1/predictions/export`. */
  export(
    query?: QueryOf<PredictionExportQuery>,
    options?: CallOptions,
  ): AsyncGenerator<Uint8Array, void, undefined>;
  /** Gets a prediction with what was asked and answered: `GET /v1/predictions/{id}`. */
  get(id: string, options?: CallOptions): Promise<StoredPredictionDetail>;
  /** Deletes a prediction of live traffic: `DELETE /v1/predictions/{id}`. */
  delete(id: string, options?: CallOptions): Promise<void>;
  /** Deletes matching predictions of live traffic from before a time (ISO 8601) and returns how many: `DELETE /v1/predictions`, until none remain. */
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
