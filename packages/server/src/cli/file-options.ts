import { accessSync, constants, existsSync, realpathSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { CommandError } from "./command-error.ts";
import { printNotice } from "./print-notice.ts";
import { defaultMaxHttpRequests } from "./settle-runtime.ts";

/** Where output lines go: to a file, to standard output, or nowhere. */
export type Output = { path: string } | "stdout" | "nowhere";

/** Refuses files that cannot be read or written before the first request is made. */
export function checkFiles(file: string, out: string | undefined): void {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new CommandError(`There is no file ${file}`);
  if (!isAllowed(file, constants.R_OK)) throw new CommandError(`${file} cannot be read by this user`);
  if (out === undefined) return;
  checkOutputFile(out);
  if (existsSync(out) && realpathSync(out) === realpathSync(file)) {
    throw new CommandError("--out would overwrite --file");
  }
}

/** Refuses a file that cannot be written. */
export function checkOutputFile(out: string): void {
  if (!existsSync(dirname(resolve(out)))) throw new CommandError(`The directory of ${out} does not exist`);
  if (!isAllowed(existsSync(out) ? out : dirname(resolve(out)), constants.W_OK))
    throw new CommandError(`${out} cannot be written by this user`);
}

function isAllowed(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** JSON lines are for programs and files: a terminal gets them only with `--json`. */
export function readOutput({ out, json }: { out?: string; json?: boolean }): Output {
  if (out !== undefined) {
    if (json) throw new CommandError("--json cannot be combined with --out");
    return { path: out };
  }
  return json || !process.stdout.isTTY ? "stdout" : "nowhere";
}

export function readConcurrency(text: string): number {
  const concurrency = Number(text);
  if (!Number.isInteger(concurrency) || concurrency <= 0)
    throw new CommandError("--concurrency takes a whole number above 0");
  const allowed = Number(process.env.BUN_CONFIG_MAX_HTTP_REQUESTS ?? defaultMaxHttpRequests);
  if (concurrency > allowed) {
    printNotice(
      `Only ${allowed} requests are sent at a time; for ${concurrency}, set BUN_CONFIG_MAX_HTTP_REQUESTS=${concurrency}.`,
    );
  }
  return concurrency;
}
