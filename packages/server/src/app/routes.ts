import { signInRoutes } from "../accounts/sign-in-route.ts";
import type { Route } from "../http/route.ts";
import { type RequestCounter, type ServePath, servePath } from "../http/serve-path.ts";
import type { OpenSockets } from "../http/sockets.ts";
import { sharePageRoutes } from "../shares/shares-route.ts";
import { dashboardRoutes, docsRoutes, missingPage } from "./dashboard.ts";
import { operationsOf } from "./operations.ts";
import { metricsRoutes, probeRoutes } from "./probes.ts";
import type { Services } from "./services.ts";

/** The parts that `Bun.serve` is given: a handler for each path, and `fetch` for all other paths. */
export interface App {
  routes: Record<string, ServePath>;
  fetch: ServePath;
  /** When the last request arrived, on the clock of `performance.now()`. */
  lastRequestAtMs(): number;
  /** The number of requests that are not yet recorded. */
  inFlight(): number;
  /** The app's WebSockets, to be stopped with the server. */
  sockets: Pick<OpenSockets, "stop" | "abort">;
}

export function createApp(services: Services): App {
  const routes: Route[] = [
    ...operationsOf(services.settings.chatCompatibility).map(({ bind }) => bind(services)),
    ...probeRoutes(services),
    ...metricsRoutes(services),
    ...docsRoutes(services),
    ...dashboardRoutes(services),
    ...signInRoutes(services),
    ...sharePageRoutes(services),
  ];
  let lastRequestAtMs = 0;
  let inFlight = 0;
  const counter: RequestCounter = {
    begin(atMs) {
      lastRequestAtMs = atMs;
      inFlight += 1;
    },
    end() {
      inFlight -= 1;
    },
  };
  const byPath = Object.entries(Object.groupBy(routes, ({ path }) => path));
  return {
    routes: Object.fromEntries(
      byPath.map(([path, ofPath = []]) => [path, servePath(ofPath, services, counter)]),
    ),
    fetch: servePath([], services, counter, missingPage(services)),
    lastRequestAtMs: () => lastRequestAtMs,
    inFlight: () => inFlight,
    sockets: services.sockets,
  };
}
