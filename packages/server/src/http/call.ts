import type { Changer } from "../platform/audit.ts";
import { ServiceError } from "../platform/errors.ts";
import { type AccessChanger, actorOf, type Caller } from "./caller.ts";
import type { Exchange } from "./exchange.ts";
import type { SocketEvents } from "./sockets.ts";

/** A request, with the parameters of its route's path as Bun's router found them. */
export interface RoutedRequest extends Request {
  readonly params?: Readonly<Record<string, string>>;
}

/** A request and what its handler needs to serve it. */
export interface Call {
  request: RoutedRequest;
  server: Pick<Bun.Server<SocketEvents>, "timeout" | "requestIP" | "upgrade">;
  exchange: Exchange;
}

/** An authenticated request. */
export interface CallWithCaller extends Call {
  caller: Caller;
}

/** A request for a page by a browser that is signed in. */
export interface CallForPage extends CallWithCaller {
  /** The token that the page sends as `x-csrf-token` with each request that changes something. */
  csrfToken: string;
}

/** The parameter of paths that begin with an environment's name. */
export const environmentParameter = "env";

/**
 * A connection without any traffic for this long is closed. So is one whose body arrives too slowly: Bun restarts this time
 * only after another 16 KB for each of its seconds.
 */
export const idleTimeoutS = 30;

/**
 * Keeps the connection open while a client waits for its response, however long: the upstream, threads, the store and the queues
 * before them have their own deadlines. Called only once the body, which has to arrive in time, is complete.
 */
export function keepOpen({ server, request }: Pick<Call, "server" | "request">): void {
  server.timeout(request, 0);
}

/** Restores the usual limit when it is the client's turn; otherwise Bun keeps the other for the rest of the connection. */
export function closeWhenIdle({ server, request }: Pick<Call, "server" | "request">): void {
  server.timeout(request, idleTimeoutS);
}

/** Passes texts on. While one is made, the client waits for the server; in between, the server waits for the client. */
export async function* keepOpenForEach<Text>(
  call: Pick<Call, "server" | "request">,
  texts: AsyncGenerator<Text, void>,
): AsyncGenerator<Text, void> {
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

/** The URL of a request. Bun builds it from the `Host` header, which may be missing or malformed. */
export function requestAddress({ url }: Request): URL {
  const address = URL.parse(url);
  if (address !== null) return address;
  throw new ServiceError(
    "malformed_host",
    "The Host header is missing or malformed; expected a host and, if needed, a port.",
  );
}

/** The account and the actor of a call, with a signal that is aborted when its client disconnects. */
export function requesterOf({ caller, request, exchange }: CallWithCaller): Changer {
  const actor = actorOf(caller, exchange.requestId);
  return { accountId: caller.accountId, signal: request.signal, actor };
}

/** The caller as the actor of a change of access. */
export function accessChangerOf(call: CallWithCaller): AccessChanger {
  return { ...requesterOf(call), caller: call.caller };
}

const loopback = /^(::ffff:)?127\.|^::1$/;
/** A request through a proxy on this machine appears to come from this machine. */
const forwardingHeaders = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

/** Whether a program on the server's own machine sent the request, and no proxy passed it on. */
export function isFromThisMachine({ request, server }: Pick<Call, "request" | "server">): boolean {
  const isForwarded = forwardingHeaders.some((name) => request.headers.has(name));
  return !isForwarded && loopback.test(server.requestIP(request)?.address ?? "");
}
