import { open, type Route } from "../../pipeline/route.ts";
import type { Services } from "../../services.ts";

/** Neither probe queries the database or the upstream: an outage there must not get the process restarted. */
export function probeRoutes({ phase }: Services): Route[] {
  return [
    open("GET", "/health", () => Response.json({ status: "ok" })),
    open("GET", "/ready", () =>
      Response.json({ status: phase() }, { status: phase() === "ready" ? 200 : 503 }),
    ),
  ];
}
