import type { Upstream } from "../../../upstream/upstream.ts";
import { holdAnswer } from "../../pipeline/hold-memory.ts";
import { type Route, withCaller } from "../../pipeline/route.ts";

export function modelRoutes(listModels: Upstream["listModels"]): Route[] {
  return [
    withCaller("GET", "/v1/models", async ({ request, exchange }) => {
      const { bytes } = await listModels(request.signal);
      holdAnswer(exchange, bytes.length);
      return new Response(bytes, { headers: { "content-type": "application/json" } });
    }),
  ];
}
