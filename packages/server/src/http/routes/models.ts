import type { Upstream } from "../../upstream/upstream.ts";
import { type Route, withKey } from "../route.ts";

export function modelRoutes(listModels: Upstream["listModels"]): Route[] {
  return [
    withKey("GET", "/v1/models", async ({ request }) => {
      const { bytes } = await listModels(request.signal);
      return new Response(bytes, { headers: { "content-type": "application/json" } });
    }),
  ];
}
