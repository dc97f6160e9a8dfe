import { Database } from "bun:sqlite";

/**
 * Writes the database at `path`, as it is now, into the empty file at `copy`. Other connections write meanwhile: they are
 * not waited for, and do not wait. SQLite's backup interface would start again at every write of another process.
 */
export function copySqlite(path: string, copy: string): void {
  // Not for reading only: such a connection would leave its side files behind.
  const database = new Database(path, { readwrite: true });
  try {
    database.run("PRAGMA busy_timeout = 5000");
    database.run("VACUUM INTO ?", [copy]);
  } finally {
    database.close();
  }
}
