import { join } from "node:path";
import { benchDirectory } from "../../paths.ts";
import type { ProcessGroup } from "../../processes.ts";
import { type RunningPresage, startPresage } from "../start-presage.ts";

export type DatabaseName = "SQLite" | "PostgreSQL";

export interface Filling {
  readonly fillS: number;
  readonly cells: number;
}

export interface Filled {
  readonly size: number;
  readonly presage: RunningPresage;
}

interface Place {
  readonly database: DatabaseName;
  readonly size: number;
  readonly url: string;
  /** For its log and the SQLite file. */
  readonly directory: string;
}

/** Presage creates the schema and its account, is stopped while the database is filled, and is started again. */
export const fillAndStart = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  { database, size, url, directory }: Place,
): Promise<Filled & Filling> => {
  const first = await startPresage(group, upstreamOrigin, directory, url);
  await group.stop(first.process);
  const startedAtMs = performance.now();
  const script = join(benchDirectory, "evaluations", "search", "fill-database.ts");
  const { stdout, stderr, exitCode } = await group.runCommand({
    argv: [process.execPath, script, url, String(size)],
  });
  if (exitCode !== 0) throw new Error(`filling ${database} failed: ${stderr}`);
  const fillS = (performance.now() - startedAtMs) / 1000;
  process.stdout.write(`filled  ${database}: ${size} results in ${fillS.toFixed(1)} s\n`);
  const presage = await startPresage(group, upstreamOrigin, directory, url);
  const { cells } = JSON.parse(stdout) as { cells: number };
  return { size, presage, fillS, cells };
};
