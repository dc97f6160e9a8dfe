import { timingSafeEqual } from "node:crypto";
import { isFromThisMachine } from "../http/caller.ts";
import { type Call, open, type Route } from "../http/route.ts";
import { ServiceError } from "../platform/errors.ts";
import type { Services } from "./services.ts";

/** Metrics contain ids of API keys and show how busy the server is, so they are for its operator only. */
export function metricsRoutes({ metrics, readMetrics, settings: { metricsToken } }: Services): Route[] {
  const headers = { "content-type": metrics.registry.contentType };
  return [
    open("GET", "/metrics", async (call) => {
      if (metricsToken === undefined) refuseOtherMachines(call);
      else refuseWithoutToken(call, metricsToken);
      return new Response(await readMetrics(), { headers });
    }),
  ];
}

function refuseOtherMachines(call: Call): void {
  if (isFromThisMachine(call)) return;
  throw new ServiceError(
    "forbidden",
    "Metrics are available on the server's own machine, or with the token in PRESAGE_METRICS_TOKEN.",
  );
}

function refuseWithoutToken({ request }: Call, token: string): void {
  const given = /^Bearer +(.*)$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
  if (timingSafeEqual(digestOf(given), digestOf(token))) return;
  throw new ServiceError(
    "unauthenticated",
    "Authentication required: send the metrics token as a bearer token.",
  );
}

/** Digests have one length, so they can be compared in constant time. */
function digestOf(text: string): Uint8Array {
  return new Bun.CryptoHasher("sha256").update(text).digest();
}
