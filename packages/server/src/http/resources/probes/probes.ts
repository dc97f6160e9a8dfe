import { open, type Route } from "../../pipeline/route.ts";

/** What the process is doing with its life, as far as its callers care. */
export type Phase = "starting" | "ready" | "stopping";

/** Neither probe asks the database or the upstream: a fault there must not get the process restarted. */
export function probeRoutes(phase: () => Phase): Route[] {
  return [
    open("GET", "/health", () => Response.json({ status: "ok" })),
    open("GET", "/ready", () =>
      Response.json({ status: phase() }, { status: phase() === "ready" ? 200 : 503 }),
    ),
  ];
}
