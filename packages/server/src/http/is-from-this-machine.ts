import type { Call } from "./route.ts";

const loopback = /^(::ffff:)?127\.|^::1$/;
/** A request through a proxy on this machine seems to come from this machine. */
const forwardingHeaders = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

/** Whether a program on the server's own machine sent the request, and no proxy passed it on. */
export function isFromThisMachine({ request, server }: Pick<Call, "request" | "server">): boolean {
  const isForwarded = forwardingHeaders.some((name) => request.headers.has(name));
  return !isForwarded && loopback.test(server.requestIP(request)?.address ?? "");
}
