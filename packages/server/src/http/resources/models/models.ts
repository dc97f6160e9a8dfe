import { reserveResponse } from "../../pipeline/reserve-memory.ts";
import { type Route, withCaller } from "../../pipeline/route.ts";
import type { Services } from "../../services.ts";

export function modelRoutes({ upstream }: Services): Route[] {
  return [
    withCaller("GET", "/v1/models", async ({ request, exchange }) => {
      const { bytes } = await upstream.listModels(request.signal);
      reserveResponse(exchange, bytes.length);
      return new Response(bytes, { headers: { "content-type": "application/json" } });
    }),
  ];
}
