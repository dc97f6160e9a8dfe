import { workerData } from "node:worker_threads";
import type { Database } from "../schema/tables.ts";
import { serveRequests } from "../threads/thread-requests.ts";
import type { WriterData } from "./write-turn.ts";

/** A thread's side of `writerThread`. If the file cannot be opened, the request fails and nothing was stored; the next one tries again. */
export function serveWrites<Request, Result>(
  open: (data: WriterData) => Database,
  write: (database: Database, request: Request) => Promise<Result>,
): void {
  let database: Database | undefined;
  serveRequests<Request, Result>({
    respond(request) {
      database ??= open(workerData);
      return write(database, request);
    },
    async close() {
      await database?.destroy();
    },
  });
}
