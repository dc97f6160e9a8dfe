import { join } from "node:path";
import { benchDirectory, rootDirectory } from "../paths.ts";
import { chatRequest } from "./chat-request.ts";
import type { Launch, Place } from "./target.ts";

export const prepareBareProxy = async ({ port, upstreamOrigin }: Place): Promise<Launch> => {
  const origin = `http://127.0.0.1:${port}`;
  return {
    argv: [join(rootDirectory, "node_modules", ".bin", "bun"), join(benchDirectory, "bare-proxy.ts")],
    // By default, Bun sends at most 256 requests at once. It must be set before it starts.
    env: { PORT: String(port), UPSTREAM_ORIGIN: upstreamOrigin, BUN_CONFIG_MAX_HTTP_REQUESTS: "65535" },
    readyUrl: `${origin}/ready`,
    request: chatRequest(origin),
  };
};
