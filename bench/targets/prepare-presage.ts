import { existsSync } from "node:fs";
import { join } from "node:path";
import { rootDirectory } from "../paths.ts";
import { predictBody } from "../payload.ts";
import type { Launch, Place } from "./target.ts";

const serverFile = join(rootDirectory, "packages", "server", "src", "main.ts");
const apiKey = "bench-key-that-is-only-good-on-loopback-0001";

/** As in production: with key checks, a rate limit (too high to be reached), metrics and logs. */
export const preparePresage = async ({ port, upstreamOrigin, directory }: Place): Promise<Launch> => {
  if (!existsSync(serverFile))
    throw new Error("packages/server/src/main.ts is not there; nothing to measure");
  const origin = `http://127.0.0.1:${port}`;
  return {
    argv: [join(rootDirectory, "node_modules", ".bin", "bun"), serverFile, "serve"],
    env: {
      PRESAGE_HOST: "127.0.0.1",
      PRESAGE_PORT: String(port),
      PRESAGE_DATABASE_URL: `sqlite:${join(directory, "presage.db")}`,
      PRESAGE_UPSTREAM_URL: `${upstreamOrigin}/v1`,
      PRESAGE_UPSTREAM_MODEL: "mock",
      PRESAGE_BOOTSTRAP_KEY: apiKey,
      PRESAGE_RATE_LIMIT_RPM: "100000000",
      PRESAGE_LOG_LEVEL: "info",
    },
    readyUrl: `${origin}/ready`,
    request: {
      url: `${origin}/v1/predict`,
      headers: { "content-type": "application/json", "x-api-key": apiKey },
      body: predictBody,
    },
  };
};
