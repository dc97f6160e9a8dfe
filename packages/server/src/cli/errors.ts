import { dirname } from "node:path";
import { PresageError } from "@presage/sdk";
import { ListenError } from "../app/listen.ts";
import { ConfigError } from "../config/config.ts";
import { InvalidRequestError } from "../http/validate.ts";
import { InvalidFieldError, ServiceError, UploadError, UpstreamError } from "../platform/errors.ts";
import { DatabaseFileError, DatabaseInUseError } from "../platform/storage/backup.ts";
import { ClockSkewError } from "../platform/storage/clock.ts";
import { SchemaError } from "../platform/storage/migrate.ts";
import { isStoreUnavailable, NoDatabaseError, OpenDatabaseError } from "../platform/storage/store-error.ts";
import { printableLines } from "../platform/words.ts";
import { InvalidWorldError } from "../worlds/worlds.ts";
import { CommandError } from "./command.ts";
import { describeIssues } from "./files.ts";

const noSpace = new Set(["SQLITE_FULL", "ENOSPC"]);
const notWritable = new Set(["EACCES", "EPERM", "EROFS", "ENOENT", "ENOTDIR", "EISDIR", "SQLITE_CANTOPEN"]);
const selfExplaining = [
  ClockSkewError,
  ConfigError,
  CommandError,
  DatabaseFileError,
  DatabaseInUseError,
  ListenError,
  NoDatabaseError,
  OpenDatabaseError,
  PresageError,
  SchemaError,
  ServiceError,
  UploadError,
  UpstreamError,
];

/** What a failed command prints: one clear line if the cause is known, otherwise the whole error. It may repeat what a server said. */
export const explainError = (error: unknown) => printableLines(messageOf(error));

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (selfExplaining.some((kind) => error instanceof kind)) return error.message;
  if (error instanceof InvalidRequestError) return describeIssues(error.issues);
  if (error instanceof InvalidFieldError)
    return `${[error.path.join("."), error.message].filter(Boolean).join(": ")}${error instanceof InvalidWorldError ? "." : ""}`;
  if (isStoreUnavailable(error))
    return `The database is unavailable (PRESAGE_DATABASE_URL): ${error.message}`;
  // A failed system call: its message has the reason and the path.
  if ("syscall" in error) return error.message;
  return Bun.inspect(error);
}

/** What a person can do about an error while `file` was written, which stays unchanged; other errors are returned as they are. */
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
