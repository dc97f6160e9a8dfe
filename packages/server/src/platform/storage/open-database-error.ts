import { commandName } from "../command-name.ts";
import { ServiceError } from "../errors.ts";

/** The database could not be opened; the message says why. */
export class OpenDatabaseError extends Error {
  constructor(error: unknown) {
    const cause = error instanceof ServiceError ? error.cause : error;
    const reason = cause instanceof Error && cause.message !== "" ? cause.message : "no response";
    super(`Could not open the database (PRESAGE_DATABASE_URL): ${reason}`, { cause });
    this.name = "OpenDatabaseError";
  }
}

/** There is no database of Presage at the URL, and the caller did not want one created. */
export class NoDatabaseError extends Error {
  constructor(place: string) {
    super(
      `There is no Presage database at ${place}. Check PRESAGE_DATABASE_URL and the current folder; ${commandName} migrate, or the server's first start, creates a database.`,
    );
    this.name = "NoDatabaseError";
  }
}
