import { Hono } from "hono";
import type { Upstream } from "../../upstream/upstream.ts";
import type { HttpEnv } from "../exchange.ts";

export function modelRoutes(listModels: Upstream["listModels"]) {
  return new Hono<HttpEnv>().get("/v1/models", async (c) => {
    const { bytes } = await listModels(c.req.raw.signal);
    return new Response(bytes, { headers: { "content-type": "application/json" } });
  });
}
