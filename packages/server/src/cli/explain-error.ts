import { PresageError } from "@presage/sdk";
import { ConfigError } from "../config.ts";
import { ServiceError, UpstreamError } from "../errors.ts";
import { ClockSkewError } from "../storage/clock-skew.ts";
import { NewerSchemaError } from "../storage/migrate.ts";
import { OpenDatabaseError } from "../storage/open-database.ts";
import { CommandError } from "./command-error.ts";

const selfExplaining = [
  ClockSkewError,
  ConfigError,
  CommandError,
  NewerSchemaError,
  OpenDatabaseError,
  PresageError,
  ServiceError,
  UpstreamError,
];

const listenErrors = new Map([
  ["EADDRINUSE", "The address is in use; set PRESAGE_PORT or PRESAGE_HOST to a free one."],
  ["EACCES", "This user may not listen there; set PRESAGE_PORT to 1024 or more."],
  ["EADDRNOTAVAIL", "PRESAGE_HOST is not an address of this machine."],
  ["EINVAL", "PRESAGE_HOST is not an address of this machine."],
]);

/** What a failed command prints: one clear line if the cause is known, else the whole error. */
export function explainError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (selfExplaining.some((kind) => error instanceof kind)) return error.message;
  const listening = "code" in error ? listenErrors.get(String(error.code)) : undefined;
  if (listening !== undefined) return listening;
  return Bun.inspect(error);
}
