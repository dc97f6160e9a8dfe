import { join } from "node:path";
import { benchDirectory, portkeyPackageDirectory } from "../paths.ts";
import { chatRequest } from "./chat-request.ts";
import type { Launch, Place } from "./target.ts";

/** Headless and in production mode: without its page of live logs, which costs extra for each request. */
export const preparePortkey = async ({ port, upstreamOrigin }: Place): Promise<Launch> => {
  const origin = `http://127.0.0.1:${port}`;
  return {
    argv: [
      "node",
      "--import",
      join(benchDirectory, "portkey-loopback.mjs"),
      join(portkeyPackageDirectory, "build", "start-server.js"),
      `--port=${port}`,
      "--headless",
    ],
    env: { NODE_ENV: "production" },
    readyUrl: `${origin}/`,
    request: chatRequest(origin, {
      "x-portkey-provider": "openai",
      "x-portkey-custom-host": `${upstreamOrigin}/v1`,
    }),
  };
};
