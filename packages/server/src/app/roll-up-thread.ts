import { copyLog, openSqliteBackgroundWriter } from "../platform/storage/sqlite.ts";
import { serveWrites } from "../platform/storage/thread.ts";
import { rollUpSomeTags } from "../results/summary/tags.ts";

// Runs in a worker: it counts results by tag.
serveWrites<"roll up", boolean>(openSqliteBackgroundWriter, async (database) => {
  const hasMore = await rollUpSomeTags(database);
  await copyLog(database);
  return hasMore;
});
