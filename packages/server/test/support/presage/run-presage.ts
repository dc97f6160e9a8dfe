import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommandToRun } from "./command-host.ts";
import { mainFile, presageCommand } from "./main-file.ts";

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs one command at a time. */
type CommandHost = (command: CommandToRun) => Promise<Ran>;

let host: CommandHost | undefined;
let isBusy = false;

/**
 * Runs a `presage` command in a separate process. Most of a command's time goes into loading its modules, so commands that follow each
 * other share a process; concurrent ones have one each.
 */
export async function runPresage(args: string[], environment: Record<string, string> = {}): Promise<Ran> {
  if (isBusy) return await runPresageProcess(args, environment);
  isBusy = true;
  host ??= startHost();
  try {
    return await host({ args, environment: { PATH: process.env.PATH ?? "", ...environment } });
  } finally {
    isBusy = false;
  }
}

/** Runs a `presage` command in its own process, until that exits. */
export async function runPresageProcess(
  args: string[],
  environment: Record<string, string>,
  stdin: Blob | "ignore" = "ignore",
): Promise<Ran> {
  const child = Bun.spawn([...presageCommand, ...args], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? "", ...environment },
    stdin,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}

function startHost(): CommandHost {
  let running: PromiseWithResolvers<Ran> | undefined;
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "command-host.ts")], {
    cwd: tmpdir(),
    // With the engine settings of the tests' process (scripts/test.mjs), because it lives as long.
    env: { ...engineSettings(), PATH: process.env.PATH ?? "", PRESAGE_TEST_MAIN: mainFile },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "inherit",
    ipc: (ran: Ran) => running?.resolve(ran),
    onExit() {
      host = undefined;
      running?.reject(new Error("The process that runs commands has ended."));
    },
  });
  // It serves the next test files too, and ends when this process does.
  child.unref();
  return async (command) => {
    running = Promise.withResolvers();
    child.send(command);
    return await running.promise;
  };
}

function engineSettings(): NodeJS.ProcessEnv {
  const isSetting = ([name]: [string, unknown]) => /^(BUN_JSC|BUN_GC|MIMALLOC)_/.test(name);
  return Object.fromEntries(Object.entries(process.env).filter(isSetting));
}
