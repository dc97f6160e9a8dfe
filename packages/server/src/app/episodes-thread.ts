import { applyWrites, type EpisodeWrite } from "../environments/episodes/new-steps-store.ts";
import { openSqliteWriter } from "../platform/storage/sqlite.ts";
import { serveWrites } from "../platform/storage/thread.ts";

// Runs in a worker: it writes what happens in episodes.
serveWrites<string, boolean[]>(openSqliteWriter, (database, writes) =>
  applyWrites(database, JSON.parse(writes) as EpisodeWrite[]),
);
