import { Worker } from "node:worker_threads";
import type { ImportPreview } from "@presage/contract";
import { previewImport, type ReadUpload } from "../datasets/traces/import.ts";
import { type Upload, type UploadedRevision, uploadRevision } from "../datasets/upload/upload-revision.ts";
import { ServiceError, UploadError } from "../platform/errors.ts";
import { createFairSlots } from "../platform/limits/turns.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { smallHeap, type ThreadClient, threadClient } from "../platform/storage/thread.ts";
import { type PredictionsUploads, type UploadedPredictions, uploadPredictions } from "../runs/imported.ts";
import type { Uploaded, UploadOutcome, UploadReply, UploadRequest, UploadTask } from "./upload-thread.ts";

/** Stores the lines of bodies, here or in a thread. */
export interface Uploads extends PredictionsUploads {
  uploadRevision(upload: Upload, body: Body, signal: AbortSignal): Promise<UploadedRevision>;
  previewImport(
    upload: ReadUpload & { accountId: string },
    body: Body,
    signal: AbortSignal,
  ): Promise<ImportPreview>;
}

type Body = AsyncIterable<Uint8Array>;

const maxWaitMs = 60_000;
/** For the next of several small uploads: starting a thread takes longer. Work after a large one needs the memory. */
const idleMs = { afterSmall: 2_000, afterLarge: 100 };
const mostOfSmallBytes = 100_000;
/** Each slot has a thread; one is left to other accounts. */
const turns = { slots: 4, slotsEach: 3 };
const queue = { maxWaitingEach: 100, maxWaitMs, refuse: refuseUpload };

function refuseUpload(): ServiceError {
  const message = "Too many uploads of this account are in progress. Try again when one has finished.";
  return new ServiceError("overloaded", message, { retryAfterS: 5 });
}

export interface UploadRunner extends Uploads {
  /** Ends idle threads. */
  stop(): Promise<void>;
}

/** Uploads on the calling thread. */
export function uploadInPlace(database: Database): UploadRunner {
  return {
    uploadRevision: (upload, body) => uploadRevision(database, upload, body),
    uploadPredictions: (upload, body) => uploadPredictions(database, upload, body),
    previewImport: (upload, body) => previewImport(upload, body),
    stop: async () => {},
  };
}

type Thread = ThreadClient<UploadRequest, UploadReply>;

/**
 * Uploads in threads of their own, each with its own connection, so that other requests wait neither for reading nor for writing.
 * Accounts take turns. One thread is kept for a while, for the next upload.
 */
export function uploadInThreads(databaseUrl: string, hasLiveRequests: () => boolean): UploadRunner {
  const slots = createFairSlots({ ...turns, queue });
  let idle: Thread | undefined;
  let ending: ReturnType<typeof setTimeout> | undefined;

  function takeThread(): Thread {
    clearTimeout(ending);
    const kept = idle;
    idle = undefined;
    if (kept !== undefined && !kept.hasEnded()) return kept;
    return threadClient(new Worker(new URL("./upload-thread.ts", import.meta.url), smallHeap(databaseUrl)));
  }

  /** A kept thread takes 30 MB. */
  function keepForAWhile(thread: Thread, uploadedBytes: number): void {
    idle = thread;
    const forMs = uploadedBytes > mostOfSmallBytes ? idleMs.afterLarge : idleMs.afterSmall;
    ending = setTimeout(() => {
      idle = undefined;
      void thread.end();
    }, forMs);
    ending.unref();
  }

  async function run(task: UploadTask, body: Body, signal: AbortSignal): Promise<Uploaded> {
    const release = await slots.take(task.upload.accountId, signal);
    let bytes = 0;
    async function* counted(): Body {
      for await (const chunk of body) {
        bytes += chunk.byteLength;
        yield chunk;
      }
    }
    try {
      const thread = takeThread();
      try {
        await thread.send({ begin: task });
        return toResult(await feed(thread, counted(), hasLiveRequests));
      } finally {
        if (idle === undefined) keepForAWhile(thread, bytes);
        else await thread.end();
      }
    } finally {
      release();
    }
  }

  return {
    // A thread returns the type of result that its task asks for.
    uploadRevision: async (upload, ...call) =>
      (await run({ kind: "revision", upload }, ...call)) as UploadedRevision,
    uploadPredictions: async (upload, ...call) =>
      (await run({ kind: "predictions", upload }, ...call)) as UploadedPredictions,
    previewImport: async (upload, ...call) =>
      (await run({ kind: "preview", upload }, ...call)) as ImportPreview,
    async stop() {
      clearTimeout(ending);
      await idle?.end();
    },
  };
}

/** Reads one chunk while the thread works on the one before. */
async function feed(thread: Thread, body: Body, hasLiveRequests: () => boolean): Promise<UploadReply> {
  let before: Promise<UploadReply> | undefined;
  try {
    for await (const chunk of body) {
      // A chunk that has its own memory is transferred: its maker no longer needs it.
      const isWhole = chunk.byteLength === chunk.buffer.byteLength;
      const transferred = isWhole ? [chunk.buffer as ArrayBuffer] : [];
      const sent = thread.send({ chunk, givesWay: hasLiveRequests() }, transferred);
      // The result is awaited with the next chunk, or never if the body fails first.
      sent.catch(() => {});
      const reply = await before;
      before = sent;
      if (reply !== undefined && "isWanted" in reply && !reply.isWanted) break;
    }
    await before;
  } catch (error) {
    // The thread discards what it has stored, and fails the upload.
    await thread.send("abort").catch(() => {});
    throw error;
  }
  return await thread.send("end");
}

function toResult(reply: UploadReply): Uploaded {
  const outcome = reply as UploadOutcome;
  if ("uploaded" in outcome) return outcome.uploaded;
  if ("faults" in outcome) throw new UploadError(outcome.faults, outcome.total);
  throw new ServiceError(outcome.refusal.code, outcome.refusal.message);
}
