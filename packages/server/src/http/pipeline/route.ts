import type { Caller } from "../../identity/caller.ts";
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

/** A request whose key or session was found good. */
export interface CallWithCaller extends Call {
  caller: Caller;
}

/** A browser that asks for a page and is signed in. */
export interface CallForPage extends CallWithCaller {
  /** What the page must send with its changing calls, as `x-csrf-token`. */
  csrfToken: string;
}

type Answer = Response | Promise<Response>;

interface OpenRoute {
  access: "open";
  /** Whether people see the answers in a browser, refusals as well. */
  isPage: boolean;
  handle(call: Call): Answer;
}

interface CallerRoute {
  access: "caller";
  handle(call: CallWithCaller): Answer;
}

interface PageRoute {
  access: "page";
  handle(call: CallForPage): Answer;
}

/** A method and a path (parameters as `:name`), who may call it, and what answers. */
export type Route = { method: Method; path: string } & (OpenRoute | CallerRoute | PageRoute);

/** A route for anybody. */
export function open(method: Method, path: string, handle: OpenRoute["handle"]): Route {
  return { method, path, access: "open", isPage: false, handle };
}

/** A page for anybody. */
export function openPage(path: string, handle: OpenRoute["handle"]): Route {
  return { method: "GET", path, access: "open", isPage: true, handle };
}

/** A route that needs a key, or a session and, for what changes something, a proof that its own page makes the call. */
export function withCaller(method: Method, path: string, handle: CallerRoute["handle"]): Route {
  return { method, path, access: "caller", handle };
}

/** A page that needs a session; who has none is sent to sign in. */
export function page(path: string, handle: PageRoute["handle"]): Route {
  return { method: "GET", path, access: "page", handle };
}
