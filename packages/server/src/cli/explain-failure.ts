import { ConfigError } from "../config.ts";
import { UpstreamError } from "../errors.ts";
import { NewerSchemaError } from "../storage/migrate.ts";
import { OpenDatabaseError } from "../storage/open-database.ts";
import { CommandError } from "./command-error.ts";

const selfExplaining = [ConfigError, CommandError, NewerSchemaError, OpenDatabaseError, UpstreamError];

/** What a person is told when a command fails: one clear line where the cause is known, else all there is. */
export function explainFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (selfExplaining.some((kind) => error instanceof kind)) return error.message;
  if ("code" in error && error.code === "EADDRINUSE") {
    return "The address is in use; set PRESAGE_PORT or PRESAGE_HOST to a free one.";
  }
  return Bun.inspect(error);
}
