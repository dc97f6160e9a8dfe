import { workerData } from "node:worker_threads";
import type { ImportPreview } from "@presage/contract";
import type { ReadUpload } from "../datasets/traces/import.ts";
import type { Upload, UploadedRevision } from "../datasets/upload/upload-revision.ts";
import { ServiceError, type ServiceErrorCode, UploadError, type UploadFault } from "../platform/errors.ts";
import { type Chunk, withRests } from "../platform/limits/turns.ts";
import { openThreadDatabase } from "../platform/storage/open.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { serveRequests, workInBackground } from "../platform/storage/thread.ts";
import type { PredictionsUpload, UploadedPredictions } from "../runs/imported.ts";

// Runs in a worker, which handles one upload at a time: it decompresses, reads and stores the body on its own connection.

/** The upload: a dataset's revision, or a run's predictions. A preview stores nothing. */
export type UploadTask =
  | { kind: "revision"; upload: Upload }
  | { kind: "predictions"; upload: PredictionsUpload }
  | { kind: "preview"; upload: ReadUpload & { accountId: string } };
export type Uploaded = UploadedRevision | UploadedPredictions | ImportPreview;

/** The messages to the thread: the upload, its body in chunks, then its end or an abort. */
export type UploadRequest = { begin: UploadTask } | Chunk | "end" | "abort";

/** How an upload ended, unless with an error of the store. */
export type UploadOutcome =
  | { uploaded: Uploaded }
  | { faults: readonly UploadFault[]; total: number }
  | { refusal: { code: ServiceErrorCode; message: string } };

/** After a chunk, whether another is wanted; at the end, the outcome. */
export type UploadReply = { isWanted: boolean } | UploadOutcome;

/** Left alone, the garbage collector falls behind a body that arrives fast (bench/MEASUREMENTS.md, imports of traces). */
const collectEveryBytes = 32 * 1024 * 1024;
let uncollectedBytes = 0;

let database: Database | undefined;
let current: { feed: Feed<Chunk>; outcome: Promise<UploadOutcome> } | undefined;

// Not nicer: on SQLite others wait for its transactions, although pacing shortens those that had to wait for a processor.
workInBackground(5);

serveRequests<UploadRequest, UploadReply>({
  async respond(request) {
    if (typeof request === "object" && "begin" in request) {
      database ??= await openThreadDatabase(String(workerData));
      current = begin(database, request.begin);
      return { isWanted: true };
    }
    if (current === undefined) throw new Error("No upload has begun");
    const { feed, outcome } = current;
    if (typeof request === "object") {
      collectAfter(request.chunk.length);
      return { isWanted: await feed.add(request) };
    }
    if (request === "end") feed.end();
    else feed.fail(new Error("The upload was aborted"));
    return await outcome;
  },
  async close() {
    await database?.destroy();
  },
});

function collectAfter(bytes: number): void {
  uncollectedBytes += bytes;
  if (uncollectedBytes < collectEveryBytes) return;
  uncollectedBytes = 0;
  Bun.gc(true);
}

function begin(database: Database, task: UploadTask) {
  const feed = createFeed<Chunk>();
  const outcome = run(database, task, feed);
  // The error is reported at the end.
  outcome.catch(() => {});
  return { feed, outcome };
}

async function run(database: Database, task: UploadTask, feed: Feed<Chunk>): Promise<UploadOutcome> {
  try {
    return { uploaded: await store(database, task, withRests(feed.items)) };
  } catch (error) {
    if (error instanceof UploadError) return { faults: error.faults, total: error.total };
    if (error instanceof ServiceError) return { refusal: { code: error.code, message: error.message } };
    throw error;
  } finally {
    feed.close();
  }
}

async function store(database: Database, task: UploadTask, body: AsyncIterable<Uint8Array>) {
  // Each branch loads its modules on first use.
  if (task.kind === "revision") {
    const { uploadRevision } = await import("../datasets/upload/upload-revision.ts");
    return await uploadRevision(database, task.upload, body);
  }
  if (task.kind === "predictions") {
    const { uploadPredictions } = await import("../runs/imported.ts");
    return await uploadPredictions(database, task.upload, body);
  }
  const { previewImport } = await import("../datasets/traces/import.ts");
  return await previewImport(task.upload, body);
}

type Feed<Item> = ReturnType<typeof createFeed<Item>>;

/** Items that are handed over one at a time. */
function createFeed<Item>() {
  let isClosed = false;
  let next = Promise.withResolvers<{ item: Item } | "end">();
  let wanted = Promise.withResolvers<void>();
  // Without a reader, the rejection of `next` is never observed.
  next.promise.catch(() => {});

  async function* read(): AsyncGenerator<Item, void> {
    for (;;) {
      wanted.resolve();
      const given = await next.promise;
      if (given === "end") return;
      next = Promise.withResolvers();
      next.promise.catch(() => {});
      yield given.item;
    }
  }

  return {
    /** Resolves when the reader wants the next item: false if it wants no more. */
    async add(item: Item): Promise<boolean> {
      await wanted.promise;
      if (isClosed) return false;
      wanted = Promise.withResolvers();
      next.resolve({ item });
      return true;
    },
    end: (): void => next.resolve("end"),
    fail: (error: Error): void => next.reject(error),
    /** To be called when the reader has stopped. */
    close(): void {
      isClosed = true;
      wanted.resolve();
    },
    /** For a single reader. */
    items: read(),
  };
}
