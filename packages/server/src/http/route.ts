import type { Caller } from "../identity/api-keys/verify-api-key.ts";
import type { Exchange } from "./exchange.ts";

type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** A request, with the parameters of its route's path as Bun's router found them. */
export interface RoutedRequest extends Request {
  readonly params?: Readonly<Record<string, string>>;
}

/** One request on its way through a route. */
export interface Call {
  request: RoutedRequest;
  server: Bun.Server<undefined>;
  exchange: Exchange;
}

/** A request whose key was found good. */
export interface CallWithKey extends Call {
  caller: Caller;
}

type Answer = Response | Promise<Response>;

interface OpenRoute {
  access: "open";
  handle(call: Call): Answer;
}

interface KeyRoute {
  access: "key";
  handle(call: CallWithKey): Answer;
}

/** A method and a path (parameters as `:name`), who may call it, and what answers. */
export type Route = { method: Method; path: string } & (OpenRoute | KeyRoute);

/** A route for anybody. */
export function open(method: Method, path: string, handle: OpenRoute["handle"]): Route {
  return { method, path, access: "open", handle };
}

/** A route that needs a key. */
export function withKey(method: Method, path: string, handle: KeyRoute["handle"]): Route {
  return { method, path, access: "key", handle };
}
