import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";

export const benchDirectory = join(import.meta.dir, "..");
export const rootDirectory = join(benchDirectory, "..");
/** The file of a program that runs as a separate process. */
export const programFile = (name: string): string => join(benchDirectory, "programs", name);
/** The Bun of package.json, on which the server and the mocks run. */
export const bun = join(rootDirectory, "node_modules", ".bin", "bun");
/** Everything that a run writes, except the report. Ignored by git. */
export const workDirectory = join(benchDirectory, ".work");
export const resultsFile = join(benchDirectory, "RESULTS.md");
export const portkeyPackageDirectory = join(benchDirectory, "node_modules", "@portkey-ai", "gateway");

interface ServerStart {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Both outputs are written here, as in production, because logging has a cost. */
  readonly logFile: string;
}

interface CommandRun {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

interface CommandOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

export interface ProcessGroup {
  startServer(start: ServerStart): Subprocess;
  runCommand(run: CommandRun): Promise<CommandOutput>;
  /** The standard output of a command that has to succeed. */
  outputOf(name: string, run: CommandRun): Promise<string>;
  stop(process: Subprocess): Promise<void>;
  /** Stops the remaining processes, however the bench ends. */
  stopAll(): Promise<void>;
}

/** A PostgreSQL with millions of rows takes time to remove its files before it exits. */
const stopGraceMs = 20_000;

/** Keeps track of the processes that the bench starts, so that none outlives it. */
export const createProcessGroup = (): ProcessGroup => {
  const running = new Set<Subprocess>();
  const remember = <Started extends Subprocess>(started: Started): Started => {
    running.add(started);
    void started.exited.then(() => running.delete(started));
    return started;
  };
  const stop = async (started: Subprocess): Promise<void> => {
    started.kill("SIGTERM");
    const forced = setTimeout(() => started.kill("SIGKILL"), stopGraceMs);
    await started.exited;
    clearTimeout(forced);
  };
  const runCommand: ProcessGroup["runCommand"] = async ({ argv, env, input = "" }) => {
    const command = remember(
      Bun.spawn([...argv], {
        env: { ...process.env, ...env },
        stdin: new Blob([input]),
        stdout: "pipe",
        stderr: "pipe",
      }),
    );
    const [stdout, stderr, exitCode] = await Promise.all([
      command.stdout.text(),
      command.stderr.text(),
      command.exited,
    ]);
    return { stdout, stderr, exitCode };
  };
  return {
    startServer: ({ argv, env, logFile }) => {
      const log = openSync(logFile, "a");
      const options = { env: { ...process.env, ...env }, stdin: "ignore", stdout: log, stderr: log } as const;
      try {
        return remember(Bun.spawn([...argv], options));
      } finally {
        closeSync(log);
      }
    },
    runCommand,
    outputOf: async (name, run) => {
      const { stdout, stderr, exitCode } = await runCommand(run);
      if (exitCode !== 0) throw new Error(`${name} failed: ${stderr}`);
      return stdout;
    },
    stop,
    stopAll: async () => {
      await Promise.all([...running].map(stop));
    },
  };
};

/** A port picked by the system. If another process takes it first, the target fails to start with an error. */
export const findFreePort = async (): Promise<number> => {
  const probe = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
  const { port } = probe;
  probe.stop(true);
  return port;
};

/** Repeats the question; throws an error with the message if the answer is not true within that time. */
export const untilTrue = async (
  message: string,
  { everyMs, timeoutMs }: { readonly everyMs: number; readonly timeoutMs: number },
  isTrue: () => boolean | Promise<boolean>,
): Promise<void> => {
  const startedAtMs = performance.now();
  while (!(await isTrue())) {
    if (performance.now() - startedAtMs > timeoutMs) throw new Error(message);
    await Bun.sleep(everyMs);
  }
};

/** Whether a server at this address answers with success. */
export const answersAt = (url: string): Promise<boolean> =>
  fetch(url, { keepalive: false }).then(
    ({ ok }) => ok,
    () => false,
  );
