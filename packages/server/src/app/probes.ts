import { open, type Route } from "../http/route.ts";
import type { Services } from "./services.ts";

/** Has the instance id of the server that answers `/ready`, by which commands know a server on their database. */
export const instanceHeader = "x-presage-instance";

/** Neither probe queries the database or the upstream: an outage there must not get the process restarted. */
export function probeRoutes({ phase, settings }: Services): Route[] {
  const headers = { [instanceHeader]: settings.instanceId };
  return [
    open("GET", "/health", () => Response.json({ status: "ok" })),
    open("GET", "/ready", () =>
      Response.json({ status: phase() }, { status: phase() === "ready" ? 200 : 503, headers }),
    ),
  ];
}
