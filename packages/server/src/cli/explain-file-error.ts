import { dirname } from "node:path";
import { CommandError } from "./command-error.ts";

const noSpace = new Set(["SQLITE_FULL", "ENOSPC"]);
const notWritable = new Set(["EACCES", "EPERM", "EROFS", "ENOENT", "ENOTDIR", "EISDIR", "SQLITE_CANTOPEN"]);

/** What a person can do about an error while `file` was written, which is then as it was before; other errors as they are. */
export function explainFileError(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  const code = String(error.code);
  if (noSpace.has(code))
    return new CommandError(
      `There is too little space in ${dirname(file)}. What was at ${file} is untouched.`,
    );
  if (notWritable.has(code)) return new CommandError(`${file} cannot be written (${code}).`);
  return error;
}

export function isNoSpace(error: unknown): boolean {
  return error instanceof Error && "code" in error && noSpace.has(String(error.code));
}
