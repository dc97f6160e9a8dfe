import type { Need } from "@presage/contract";
import type { AccessChanger } from "../accounts/change-access.ts";
import type { Changer } from "../platform/audit.ts";
import { ServiceError } from "../platform/errors.ts";
import { actorOf, type Caller } from "./caller.ts";
import type { Exchange } from "./exchange.ts";
import type { SocketEvents } from "./sockets.ts";

/**
 * A connection without any traffic for this long is closed. So is one whose body arrives too slowly: Bun restarts this time
 * only with each 16 KB for every second of it.
 */
export const idleTimeoutS = 30;

/**
 * Keeps the connection open while a client waits for its response, however long: the upstream, threads, the store and the queues
 * before them have deadlines of their own. Called only once the body, which has to arrive in time, is complete.
 */
export function keepOpen({ server, request }: Pick<Call, "server" | "request">): void {
  server.timeout(request, 0);
}

/** Restores the usual limit when it is the client's turn. Bun would keep the other for the rest of the connection. */
export function closeWhenIdle({ server, request }: Pick<Call, "server" | "request">): void {
  server.timeout(request, idleTimeoutS);
}

/** The same texts. While one is made, the client waits for the server; in between, the server waits for the client. */
export async function* keepOpenForEach(
  call: Pick<Call, "server" | "request">,
  texts: AsyncGenerator<string, void>,
): AsyncGenerator<string, void> {
  try {
    for (;;) {
      keepOpen(call);
      const { done, value } = await texts.next().finally(() => closeWhenIdle(call));
      if (done) return;
      yield value;
    }
  } finally {
    await texts.return();
  }
}

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

/** The account of a call and who acts in it, with a signal that is aborted when its client disconnects. */
export function requesterOf({ caller, request, exchange }: CallWithCaller): Changer {
  const actor = actorOf(caller, exchange.requestId);
  return { accountId: caller.accountId, signal: request.signal, actor };
}

/** The caller as the actor of a change of access. */
export function accessChangerOf(call: CallWithCaller): AccessChanger {
  const { signal, actor } = requesterOf(call);
  return { caller: call.caller, signal, actor };
}
