import { timingSafeEqual } from "node:crypto";
import { ServiceError } from "../../../errors.ts";
import { type Call, open, type Route } from "../../pipeline/route.ts";
import type { Services } from "../../services.ts";

const loopback = /^(::ffff:)?127\.|^::1$/;
/** Who comes through a proxy on this machine looks as if it were on it. */
const forwardingHeaders = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

/** Metrics name API keys by their ids and tell how busy the server is, which is for its operator. */
export function metricsRoutes({ metrics: { registry }, settings: { metricsToken } }: Services): Route[] {
  const headers = { "content-type": registry.contentType };
  return [
    open("GET", "/metrics", async (call) => {
      if (metricsToken === undefined) refuseFromElsewhere(call);
      else refuseWithoutToken(call, metricsToken);
      return new Response(await registry.metrics(), { headers });
    }),
  ];
}

function refuseFromElsewhere({ request, server }: Call): void {
  const isForwarded = forwardingHeaders.some((name) => request.headers.has(name));
  if (!isForwarded && loopback.test(server.requestIP(request)?.address ?? "")) return;
  throw new ServiceError(
    "forbidden",
    "Metrics are read on the server's own machine, or with the token of PRESAGE_METRICS_TOKEN.",
  );
}

function refuseWithoutToken({ request }: Call, token: string): void {
  const given = /^Bearer +(.*)$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
  if (timingSafeEqual(digestOf(given), digestOf(token))) return;
  throw new ServiceError("unauthenticated", "The metrics' token is needed, as a bearer token.");
}

/** Of one length, so that they can be compared in constant time. */
function digestOf(text: string): Uint8Array {
  return new Bun.CryptoHasher("sha256").update(text).digest();
}
