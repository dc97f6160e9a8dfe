import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runtimeSettings } from "../../../src/cli/command.ts";
import { eventually } from "../eventually.ts";
import { freePort } from "../free-port.ts";
import { asReplicas } from "../upstream/as-replicas.ts";
import { killAfterTests } from "./child-processes.ts";
import { presageCommand } from "./main-file.ts";
import { callWithKey, testKey } from "./presage.ts";

/** A server in a separate process. */
export interface SpawnedPresage extends AsyncDisposable {
  url: string;
  pid: number;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  kill(signal: NodeJS.Signals): void;
  /** The exit code, once the process has ended; above 128 if a signal ended it. */
  exited: Promise<number>;
  /** The output so far. */
  stdout(): Promise<string>;
  stderr(): Promise<string>;
}

/** Starts `presage serve` without the tests' environment except PATH, and does not wait. */
export async function launchPresage(
  environment: Record<string, string>,
  command: readonly string[] = presageCommand,
): Promise<SpawnedPresage> {
  const port = await freePort();
  const directory = await mkdtemp(join(tmpdir(), "presage-spawned-"));
  const [out, err] = [join(directory, "stdout"), join(directory, "stderr")];
  const child = Bun.spawn([...command, "serve"], {
    cwd: directory,
    env: {
      PATH: process.env.PATH ?? "",
      // A server gives itself these settings by starting a second time.
      ...runtimeSettings,
      PRESAGE_PORT: String(port),
      PRESAGE_BOOTSTRAP_KEY: testKey,
      ...asReplicas(environment),
    },
    stdin: "ignore",
    stdout: Bun.file(out),
    stderr: Bun.file(err),
  });
  killAfterTests(child);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    pid: child.pid,
    call: (method, path, body, headers) => callWithKey(url, method, path, body, headers),
    kill: (signal) => child.kill(signal),
    exited: child.exited,
    stdout: () => Bun.file(out).text(),
    stderr: () => Bun.file(err).text(),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Starts a server and waits until it is ready. */
export async function spawnPresage(
  environment: Record<string, string>,
  command: readonly string[] = presageCommand,
): Promise<SpawnedPresage> {
  const presage = await launchPresage(environment, command);
  let isOver = false;
  presage.exited.then(() => {
    isOver = true;
  });
  const isReady = await eventually(
    async () => isOver || (await fetch(`${presage.url}/ready`).catch(() => undefined))?.ok === true,
    (done) => done,
  );
  if (isOver || !isReady) throw new Error(`The server did not start: ${await presage.stderr()}`);
  return presage;
}
