import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { type ProcessGroup, programFile, untilTrue, workDirectory } from "./processes.ts";

export type DatabaseName = "SQLite" | "PostgreSQL";

export interface Database {
  readonly database: DatabaseName;
  readonly url: string;
}

export interface Postgres {
  readonly process: Subprocess;
  /** The URLs of empty databases. */
  readonly urls: readonly string[];
}

export const withoutPostgres = "PostgreSQL does not run on this machine";

/** Undefined if it cannot run here; the reason is written to standard output. */
export const startPostgres = async (
  group: ProcessGroup,
  databases: number,
): Promise<Postgres | undefined> => {
  const directory = join(workDirectory, "postgres");
  mkdirSync(directory, { recursive: true });
  const logFile = join(directory, "output.log");
  const argv = [process.execPath, programFile("postgres-server.ts"), String(databases)];
  const server = group.startServer({ argv, logFile });
  const readUrls = () => /^\[.*\]$/m.exec(readFileSync(logFile, "utf8"))?.[0];
  try {
    await untilTrue("it is not ready", { everyMs: 50, timeoutMs: 60_000 }, () => {
      if (readUrls() === undefined && server.exitCode !== null) throw new Error("it has exited");
      return readUrls() !== undefined;
    });
  } catch {
    process.stdout.write(
      `PostgreSQL cannot run here and is skipped: ${readFileSync(logFile, "utf8").slice(-500)}\n`,
    );
    await group.stop(server);
    return undefined;
  }
  return { process: server, urls: JSON.parse(readUrls() ?? "[]") as string[] };
};

/** An SQLite file for each of these names and, if PostgreSQL runs, a database for each. Lists both engines under each name. */
export const openDatabases = async <Name extends string>(
  group: ProcessGroup,
  ...names: readonly Name[]
): Promise<{ of: Readonly<Record<Name, readonly Database[]>>; stop(): Promise<void> }> => {
  const postgres = await startPostgres(group, names.length);
  const both = names.map((name, place): [Name, Database[]] => [
    name,
    [
      { database: "SQLite", url: `sqlite:${join(workDirectory, `${name}.db`)}` },
      ...(postgres === undefined
        ? []
        : [{ database: "PostgreSQL" as const, url: postgres.urls[place] ?? "" }]),
    ],
  ]);
  return {
    of: Object.fromEntries(both) as Record<Name, Database[]>,
    stop: async () => {
      if (postgres !== undefined) await group.stop(postgres.process);
    },
  };
};
