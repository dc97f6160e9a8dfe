import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { CommandError } from "../command-error.ts";

/** Refuses files that cannot be read or written before the first request is made. */
export function checkFiles(file: string, out: string | undefined): void {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new CommandError(`There is no file ${file}`);
  if (out === undefined) return;
  if (!existsSync(dirname(resolve(out)))) throw new CommandError(`The directory of ${out} does not exist`);
  if (existsSync(out) && realpathSync(out) === realpathSync(file)) {
    throw new CommandError("--out would overwrite --file");
  }
}

export function readConcurrency(text: string): number {
  const concurrency = Number(text);
  if (Number.isInteger(concurrency) && concurrency > 0) return concurrency;
  throw new CommandError("--concurrency takes a whole number above 0");
}
