import type { Need } from "@presage/contract";
import { ServiceError } from "../platform/errors.ts";
import type { Caller } from "./caller.ts";
import type { Exchange } from "./exchange.ts";
import type { SocketEvents } from "./socket.ts";

type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** A request, with the parameters of its route's path as Bun's router found them. */
export interface RoutedRequest extends Request {
  readonly params?: Readonly<Record<string, string>>;
}

/** A request and what its handler needs to serve it. */
export interface Call {
  request: RoutedRequest;
  server: Bun.Server<SocketEvents>;
  exchange: Exchange;
}

/** An authenticated request. */
export interface CallWithCaller extends Call {
  caller: Caller;
}

/** A request for a page by a browser that is signed in. */
export interface CallForPage extends CallWithCaller {
  /** The page sends it as `x-csrf-token` with each request that changes something. */
  csrfToken: string;
}

type Handle<HandledCall> = (call: HandledCall) => Response | Promise<Response>;

interface OpenRoute {
  access: "open";
  /** Whether its responses, errors included, are pages for people. */
  isPage: boolean;
  /** Whether it is a page, or a file that pages load; logged at debug. */
  isOfDashboard: boolean;
  handle: Handle<Call>;
}

/** What the caller of a route must be allowed to do, by role and scopes. */
interface WithNeeds {
  needs: Need;
}

interface CallerRoute extends WithNeeds {
  access: "caller";
  handle: Handle<CallWithCaller>;
}

interface ProgramRoute extends WithNeeds {
  access: "program";
  handle: Handle<CallWithCaller>;
}

interface KeyRoute extends WithNeeds {
  access: "key";
  handle: Handle<CallWithCaller>;
}

interface PageRoute {
  access: "page";
  handle: Handle<CallForPage>;
}

/** A method and a path (parameters as `:name`), who may call it, and its handler. */
export type Route = { method: Method; path: string } & (
  | OpenRoute
  | CallerRoute
  | KeyRoute
  | ProgramRoute
  | PageRoute
);

/** A route without authentication. */
export function open(method: Method, path: string, handle: OpenRoute["handle"]): Route {
  return { method, path, access: "open", isPage: false, isOfDashboard: false, handle };
}

/** A file that pages load, without authentication. */
export function openFile(path: string, handle: OpenRoute["handle"]): Route {
  return { method: "GET", path, access: "open", isPage: false, isOfDashboard: true, handle };
}

/** A page without authentication. */
export function openPage(path: string, handle: OpenRoute["handle"]): Route {
  return { method: "GET", path, access: "open", isPage: true, isOfDashboard: true, handle };
}

/** An address that redirects a browser, without authentication. Its errors are pages. */
export function openRedirect(path: string, handle: OpenRoute["handle"]): Route {
  return { method: "GET", path, access: "open", isPage: true, isOfDashboard: false, handle };
}

/** A route that needs a key, or a session and, if it changes something, the CSRF token of its page. */
export function withCaller(method: Method, path: string, needs: Need, handle: CallerRoute["handle"]): Route {
  return { method, path, access: "caller", needs, handle };
}

/**
 * A route of a protocol whose programs may have no way to send a header: the key may also be a URL's password. Neither sessions nor
 * requests of web pages are let in.
 */
export function forPrograms(
  method: Method,
  path: string,
  needs: Need,
  handle: ProgramRoute["handle"],
): Route {
  return { method, path, access: "program", needs, handle };
}

/** The parameter of paths that begin with an environment's name. */
export const environmentParameter = "env";

/** A route that needs a key: cookies are ignored. */
export function withKey(method: Method, path: string, needs: Need, handle: KeyRoute["handle"]): Route {
  return { method, path, access: "key", needs, handle };
}

/** A page that needs a session of any role; a browser without one is redirected to sign in. What it shows comes from other routes. */
export function page(path: string, handle: PageRoute["handle"]): Route {
  return { method: "GET", path, access: "page", handle };
}

/** The URL of a request. Bun builds it from the `Host` header, which may be missing or malformed. */
export function requestAddress({ url }: Request): URL {
  const address = URL.parse(url);
  if (address !== null) return address;
  throw new ServiceError(
    "malformed_host",
    "The Host header is missing or malformed; expected a host and, if needed, a port.",
  );
}
