// A process that runs commands of `presage` one after the other, with modules that are loaded once.
import { mainFile } from "./main-file.ts";
import type { Ran } from "./run-presage.ts";

/** Thrown where a process would end. */
class ExitError extends Error {
  override name = "ExitError";
}

export interface CommandToRun {
  args: string[];
  environment: Record<string, string>;
}

let runs = 0;
// A command that needs other settings of Bun would start this process again.
delete process.execve;
// Each command adds some.
process.stdout.setMaxListeners(0);
process.setMaxListeners(0);

async function runHere({ args, environment }: CommandToRun): Promise<Ran> {
  runs += 1;
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  process.argv.splice(1, Number.POSITIVE_INFINITY, mainFile, ...args);
  process.exitCode = 0;
  const ran: Ran = { code: 0, stdout: "", stderr: "" };
  // The code after the exit would not run in a separate process.
  let isOver = false;
  for (const name of ["stdout", "stderr"] as const) {
    process[name].write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
      if (!isOver) ran[name] += typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk);
      const written = rest.at(-1);
      if (typeof written === "function") queueMicrotask(() => written());
      return true;
    };
  }
  const ended = new Promise<void>((resolve) => {
    process.exit = (code) => {
      if (!isOver) ran.code = Number(code ?? process.exitCode ?? 0);
      isOver = true;
      resolve();
      throw new ExitError();
    };
  });
  const finished = import(`${mainFile}?run=${runs}`).then(
    () => {
      if (!isOver) ran.code = Number(process.exitCode ?? 0);
    },
    (error: unknown) => {
      if (!isOver) throw error;
    },
  );
  await Promise.race([ended, finished]);
  isOver = true;
  // What the command does about the error that ended it must not reach the next command. A few commands never finish.
  await Promise.race([finished, Bun.sleep(500)]);
  return ran;
}

process.on("unhandledRejection", (error) => {
  if (!(error instanceof ExitError)) throw error;
});
const { exit } = process;
process.on("disconnect", () => exit());
process.on("message", async (command: CommandToRun) => {
  process.send?.(await runHere(command));
});
