import { join } from "node:path";
import { rootDirectory } from "../paths.ts";
import { predictBody } from "../payload.ts";
import type { Launch, Place } from "./target.ts";

const bun = join(rootDirectory, "node_modules", ".bin", "bun");
const bundleFile = join(rootDirectory, "packages", "server", "build", "build-bundle.ts");
const apiKey = "bench-key-that-is-only-good-on-loopback-0001";

/** As in production: with key checks, a rate limit (too high to be reached), metrics and logs. */
export const preparePresage = async ({ port, upstreamOrigin, directory }: Place): Promise<Launch> => {
  const origin = `http://127.0.0.1:${port}`;
  return {
    argv: [bun, await bundledServer(), "serve"],
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

/** The server as `npm start` runs it. */
const bundledServer = async (): Promise<string> => {
  const build = Bun.spawn([bun, bundleFile], { stdout: "pipe", stderr: "inherit" });
  const path = await new Response(build.stdout).text();
  if ((await build.exited) !== 0) throw new Error("The server could not be bundled; nothing to measure");
  return path;
};
