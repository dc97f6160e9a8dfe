import { copyLog } from "../../../storage/sqlite/copy-log.ts";
import { openSqliteBackgroundWriter } from "../../../storage/sqlite/open-sqlite-database.ts";
import { serveWrites } from "../../../storage/threads/thread-requests.ts";
import { rollUpSomeTags } from "./roll-up-tags-store.ts";

// Runs in a worker: it counts results by tag.
serveWrites<"roll up", boolean>(openSqliteBackgroundWriter, async (database) => {
  const hasMore = await rollUpSomeTags(database);
  await copyLog(database);
  return hasMore;
});
