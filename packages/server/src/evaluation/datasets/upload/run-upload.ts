import { Worker } from "node:worker_threads";
import { ServiceError } from "../../../errors.ts";
import { createFairSlots } from "../../../limits/fair-slots.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import { type ThreadClient, threadClient } from "../../../storage/thread-requests.ts";
import { UploadError } from "./upload-error.ts";
import type { Upload, UploadedRevision } from "./upload-revision.ts";
import { uploadRevision } from "./upload-revision.ts";
import type { UploadOutcome, UploadReply, UploadRequest } from "./upload-thread.ts";

/** Uploads a body, here or in a thread. */
export type RunUpload = (
  upload: Upload,
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
) => Promise<UploadedRevision>;

const maxWaitMs = 60_000;
/** Each has a thread; one is left to other accounts. */
const turns = { slots: 4, slotsEach: 3 };
const queue = { maxWaitingEach: 100, maxWaitMs, refuse: refuseUpload };

function refuseUpload(): ServiceError {
  const message = "Too many uploads of this account are in progress. Try again when one has finished.";
  return new ServiceError("overloaded", message, { retryAfterS: 5 });
}

export interface UploadRunner {
  run: RunUpload;
  /** Ends what is idle. */
  stop(): Promise<void>;
}

/** Uploads on the calling thread. */
export function uploadInPlace(database: Database): UploadRunner {
  return { run: (upload, body) => uploadRevision(database, upload, body), stop: async () => {} };
}

type Thread = ThreadClient<UploadRequest, UploadReply>;

/**
 * Uploads in a thread for each, with a connection of its own, so that other requests wait neither for what is read nor for what is
 * written. Accounts take turns. One thread is kept for the next upload.
 */
export function uploadInThreads(databaseUrl: string): UploadRunner {
  const slots = createFairSlots({ ...turns, queue });
  let idle: Thread | undefined;

  function takeThread(): Thread {
    const kept = idle;
    idle = undefined;
    if (kept !== undefined && !kept.hasEnded()) return kept;
    return threadClient(
      new Worker(new URL("./upload-thread.ts", import.meta.url), { workerData: databaseUrl }),
    );
  }

  async function run(upload: Upload, body: AsyncIterable<Uint8Array>): Promise<UploadedRevision> {
    const thread = takeThread();
    try {
      await thread.send({ begin: upload });
      return toResult(await feed(thread, body));
    } finally {
      if (idle === undefined) idle = thread;
      else await thread.end();
    }
  }

  return {
    async run(upload, body, signal) {
      const release = await slots.take(upload.accountId, signal);
      return await run(upload, body).finally(release);
    },
    async stop() {
      await idle?.end();
    },
  };
}

async function feed(thread: Thread, body: AsyncIterable<Uint8Array>): Promise<UploadReply> {
  try {
    for await (const chunk of body) {
      const reply = await thread.send({ chunk });
      if ("isWanted" in reply && !reply.isWanted) break;
    }
  } catch (error) {
    // The thread discards what it has stored, and fails.
    await thread.send("abort").catch(() => {});
    throw error;
  }
  return await thread.send("end");
}

function toResult(reply: UploadReply): UploadedRevision {
  const outcome = reply as UploadOutcome;
  if ("uploaded" in outcome) return outcome.uploaded;
  if ("fault" in outcome) throw new UploadError(outcome.fault);
  throw new ServiceError(outcome.refusal.code, outcome.refusal.message);
}
