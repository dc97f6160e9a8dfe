import { openSqliteWriter } from "../../storage/sqlite/open-sqlite-database.ts";
import { serveWrites } from "../../storage/threads/thread-requests.ts";
import { applyWrites, type EpisodeWrite } from "./apply-writes.ts";

// Runs in a worker: it writes what happens in episodes.
serveWrites<string, boolean[]>(openSqliteWriter, (database, writes) =>
  applyWrites(database, JSON.parse(writes) as EpisodeWrite[]),
);
