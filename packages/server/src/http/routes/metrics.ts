import type { Registry } from "prom-client";
import { open, type Route } from "../route.ts";

export function metricsRoutes(registry: Registry): Route[] {
  const headers = { "content-type": registry.contentType };
  return [open("GET", "/metrics", async () => new Response(await registry.metrics(), { headers }))];
}
