import type { Subprocess } from "bun";
import type { ProcessGroup } from "../processes.ts";
import { startTarget } from "../targets/start-target.ts";
import type { LoadRequest } from "../targets/target.ts";

export interface RunningPresage {
  readonly process: Subprocess;
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly predict: LoadRequest;
}

export const startPresage = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  directory: string,
  databaseUrl: string,
  more: Readonly<Record<string, string>> = {},
): Promise<RunningPresage> => {
  const environment = { PRESAGE_DATABASE_URL: databaseUrl, ...more };
  const { process, request } = await startTarget(group, "presage", upstreamOrigin, directory, environment);
  return { process, origin: new URL(request.url).origin, headers: request.headers, predict: request };
};
