import process from "node:process";
import { expectEventually } from "../eventually.ts";
import { freePort } from "../free-port.ts";
import { killAfterTests } from "../presage/child-processes.ts";

const password = "redis-of-the-tests";

/** The program of the tests' Valkey or Redis; undefined if there is none. Tests that need it are skipped then. */
export const redisProgram = Bun.which("valkey-server") ?? Bun.which("redis-server") ?? undefined;

if (redisProgram === undefined) {
  process.stderr.write(
    "Tests with Redis are skipped: no redis-server or valkey-server was found (Debian: apt-get install redis-server).\n",
  );
}

/** A real Valkey or Redis, with a password and without files. */
export interface TestRedis {
  url: string;
  port: number;
  /** Sends one command over a separate connection, in the server's own protocol. */
  command(...words: string[]): Promise<unknown>;
  /** Stops the server immediately, or starts it again, empty, at the same address. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops it with SIGSTOP: connections stay open, and nothing answers. */
  freeze(): void;
  thaw(): void;
}

export async function startRedis(): Promise<TestRedis> {
  const port = await freePort();
  const url = `redis://:${password}@127.0.0.1:${port}`;
  const command = async (...[name = "", ...words]: string[]): Promise<unknown> => {
    const client = new Bun.RedisClient(url, { autoReconnect: false, connectionTimeout: 5_000 });
    try {
      return await client.send(name, words);
    } finally {
      client.close();
    }
  };
  const isUp = () =>
    command("PING").then(
      () => true,
      () => false,
    );
  const spawn = () => {
    const options = ["--port", String(port), "--bind", "127.0.0.1", "--requirepass", password];
    const child = Bun.spawn([redisProgram ?? "", ...options, "--save", "", "--appendonly", "no"], {
      stdout: "ignore",
      stderr: "ignore",
    });
    killAfterTests(child);
    return child;
  };
  let child = spawn();
  await expectEventually(isUp, true);
  return {
    url,
    port,
    command,
    async stop() {
      child.kill("SIGKILL");
      await child.exited;
    },
    async start() {
      child = spawn();
      await expectEventually(isUp, true);
    },
    freeze: () => child.kill("SIGSTOP"),
    thaw: () => child.kill("SIGCONT"),
  };
}
