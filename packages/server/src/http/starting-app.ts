import type { App } from "./app.ts";

const retryAfterS = 1;

/** What is served while the rest is still being built: the process is up, and takes no requests yet. */
export function startingApp(): App {
  const refusal = { detail: "The server is starting.", category: "unavailable" };
  const headers = {
    "retry-after": String(retryAfterS),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
  };
  return {
    routes: {
      "/health": async () => Response.json({ status: "ok" }),
      "/ready": async () => Response.json({ status: "starting" }, { status: 503, headers }),
    },
    fetch: async () => Response.json(refusal, { status: 503, headers }),
    lastRequestAtMs: () => 0,
    underWay: () => 0,
  };
}
