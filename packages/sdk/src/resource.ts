import { type Call, type CallOptions, type ListOptions, underOneKey, type WriteOptions } from "./call.ts";
import { iterateAllPages, listAllPages } from "./paging.ts";
import type { Transport } from "./transport.ts";

/** Options of uploads. */
export interface LinesOptions extends CallOptions {
  /** Whether the lines are compressed with gzip. */
  isGzip?: boolean | undefined;
}

/** The calls that most resources are made of. That a response is a `Value` is not checked. */
export function callsOf({ json }: Transport) {
  const get = <Value>(path: string, options?: CallOptions, query: object = {}): Promise<Value> =>
    json({ method: "GET", path, query: { ...query } }, options);

  return {
    get,
    /** Takes effect once, however often it is sent. */
    create: <Value>(path: string, body: unknown, options?: WriteOptions): Promise<Value> =>
      json({ method: "POST", path, body, ...underOneKey(options) }, options),
    /** Changes nothing when it is repeated. */
    repeatable: <Value>(
      method: Call["method"],
      path: string,
      options?: CallOptions,
      body?: unknown,
    ): Promise<Value> => json({ method, path, body, isRepeatable: true }, options),
    async remove(path: string, options?: CallOptions, query: object = {}): Promise<void> {
      await json({ method: "DELETE", path, query: { ...query } }, options);
    },
    /** The items of all pages, or the first `atMost`. */
    list: <Item>(
      path: string,
      { atMost, ...options }: ListOptions = {},
      query: object = {},
    ): Promise<Item[]> => listAllPages((page) => get(path, options, { ...query, ...page }), atMost),
    iterate: <Item>(path: string, options?: CallOptions, query: object = {}) =>
      iterateAllPages<Item>((page) => get(path, options, { ...query, ...page })),
    /** Sends JSON Lines. They are not sent twice: a stream is gone after the first try, and some lines are accepted only once. */
    sendLines: <Value>(
      path: string,
      content: NonNullable<Call["content"]>,
      { isGzip, ...options }: LinesOptions = {},
    ): Promise<Value> => {
      const headers = headersOfBody(content, { isGzip });
      return json({ method: "POST", path, content, headers, isRepeatable: false }, options);
    },
  };
}

/** The headers that say how a body is encoded. A browser sets the content type of `FormData` itself. */
export function headersOfBody(
  content: NonNullable<Call["content"]>,
  {
    isGzip,
    contentType = "application/x-ndjson",
  }: Pick<LinesOptions, "isGzip"> & { contentType?: string | undefined },
) {
  return {
    ...(content instanceof FormData ? {} : { "content-type": contentType }),
    ...(isGzip ? { "content-encoding": "gzip" } : {}),
  };
}

/** The paths of objects by their ids or names. */
export function pathsUnder(root: string) {
  return (id: string | number, rest = "") => `${root}/${encodeURIComponent(id)}${rest}`;
}
