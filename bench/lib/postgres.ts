import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { type ProcessGroup, programFile, workDirectory } from "./processes.ts";

export interface Postgres {
  readonly process: Subprocess;
  readonly urls: readonly string[];
}

const readyTimeoutMs = 60_000;
const pollEveryMs = 50;

/** Undefined if it cannot run here; the reason is written to standard output. */
export const startPostgres = async (
  group: ProcessGroup,
  databases: number,
): Promise<Postgres | undefined> => {
  const directory = join(workDirectory, "postgres");
  mkdirSync(directory, { recursive: true });
  const logFile = join(directory, "output.log");
  const script = programFile("postgres-server.ts");
  const server = group.startServer({ argv: [process.execPath, script, String(databases)], logFile });
  const startedAtMs = performance.now();
  for (;;) {
    const log = readFileSync(logFile, "utf8");
    const ready = /^\[.*\]$/m.exec(log)?.[0];
    if (ready !== undefined) return { process: server, urls: JSON.parse(ready) as string[] };
    if (server.exitCode !== null || performance.now() - startedAtMs > readyTimeoutMs) {
      process.stdout.write(`PostgreSQL cannot run here and is skipped: ${log.slice(-500)}\n`);
      await group.stop(server);
      return undefined;
    }
    await Bun.sleep(pollEveryMs);
  }
};
