import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { findFreePort } from "../host/free-port.ts";
import type { ProcessGroup } from "../processes.ts";
import { prepareBareProxy } from "./prepare-bare-proxy.ts";
import { prepareNginx } from "./prepare-nginx.ts";
import { preparePortkey } from "./prepare-portkey.ts";
import { preparePresage } from "./prepare-presage.ts";
import type { LoadRequest, PrepareLaunch, TargetName } from "./target.ts";

export type StartedName = Exclude<TargetName, "direct">;

export interface StartedTarget {
  readonly process: Subprocess;
  readonly request: LoadRequest;
  readonly readyAfterMs: number;
}

const prepareLaunch: Readonly<Record<StartedName, PrepareLaunch>> = {
  nginx: prepareNginx,
  bun: prepareBareProxy,
  portkey: preparePortkey,
  presage: preparePresage,
};

const readyTimeoutMs = 20_000;
const pollEveryMs = 2;

const isReady = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(url, { keepalive: false })).ok;
  } catch {
    return false; // Not listening yet.
  }
};

/** Starts it and waits until it is ready. */
export const startTarget = async (
  group: ProcessGroup,
  name: StartedName,
  upstreamOrigin: string,
  directory: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<StartedTarget> => {
  mkdirSync(directory, { recursive: true });
  const place = { port: await findFreePort(), upstreamOrigin, directory };
  const { argv, env, readyUrl, request } = await prepareLaunch[name](place);
  const logFile = join(directory, "output.log");

  const startedAtMs = performance.now();
  const process = group.startServer({ argv, logFile, env: { ...env, ...environment } });
  while (!(await isReady(readyUrl))) {
    if (process.exitCode !== null || performance.now() - startedAtMs > readyTimeoutMs) {
      throw new Error(`${name} did not start:\n${readFileSync(logFile, "utf8").slice(-2000)}`);
    }
    await Bun.sleep(pollEveryMs);
  }
  return { process, request, readyAfterMs: performance.now() - startedAtMs };
};
