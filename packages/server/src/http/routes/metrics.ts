import { Hono } from "hono";
import type { Registry } from "prom-client";
import type { HttpEnv } from "../exchange.ts";

export function metricsRoutes(registry: Registry) {
  return new Hono<HttpEnv>().get(
    "/metrics",
    async () => new Response(await registry.metrics(), { headers: { "content-type": registry.contentType } }),
  );
}
