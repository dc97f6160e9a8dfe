import { setPriority } from "node:os";
import { parentPort, type Worker, type WorkerOptions, workerData } from "node:worker_threads";
import { ServiceError, type ServiceErrorCode } from "../errors.ts";
import { defined } from "../words.ts";
import type { Database } from "./schema/tables.ts";
import { type WriterData, writerData } from "./sqlite/sqlite-file.ts";
import { isStoreUncertain, storeUncertain } from "./store-error.ts";

/** Options of a thread that collects its garbage early instead of after tens of megabytes, and so is a little slower. */
export function smallHeap(workerData: unknown): WorkerOptions {
  // `smol` is Bun's own option.
  const options: WorkerOptions & { smol: boolean } = { workerData, smol: true };
  return options;
}

/**
 * Gives other threads priority over this one, for good: a process without privileges cannot take it back. Whoever answers requests must not
 * wait for this thread's work nor, with the usual niceness, for a lock that it holds.
 */
export function workInBackground(niceness = 10): void {
  // On other systems it would apply to the whole process.
  if (process.platform !== "linux") return;
  try {
    setPriority(niceness);
  } catch {
    // Not every system allows this, and the thread works without it.
  }
}

/** An error's parts: the copy that another thread receives would lose its code. */
interface ThreadError {
  message: string;
  code: string | undefined;
  /** The other parts of a `ServiceError`. */
  service: { code: ServiceErrorCode; retryAfterS?: number } | undefined;
}

interface ThreadRequest<Request> {
  id: number;
  request: Request | "close";
}

/** The response to a request; "close" has no result. */
type ThreadResponse<Result> = { id: number } & ({ result: Result | undefined } | { error: ThreadError });

/** A thread's side of `threadClient`: handles the requests of a lane one after the other. */
export function serveRequests<Request, Result>(handlers: {
  respond(request: Request): Result | Promise<Result>;
  close(): void | Promise<void>;
  /** Absent: all requests are in one lane. */
  laneOf?(request: Request): string;
}): void {
  const lanes = new Map<string, Promise<unknown>>();
  parentPort?.on("message", ({ id, request }: ThreadRequest<Request>) => {
    const lane = request === "close" ? "" : (handlers.laneOf?.(request) ?? "");
    const before = request === "close" ? Promise.all(lanes.values()) : lanes.get(lane);
    const settled = Promise.resolve(before).then(async () =>
      parentPort?.postMessage({ id, ...(await settle(request)) }),
    );
    lanes.set(lane, settled);
  });

  async function settle(request: Request | "close") {
    try {
      if (request !== "close") return { result: await handlers.respond(request) };
      await handlers.close();
      return { result: undefined };
    } catch (error) {
      return { error: toThreadError(error) };
    }
  }
}

function toThreadError(error: unknown): ThreadError {
  if (!(error instanceof Error)) return { message: String(error), code: undefined, service: undefined };
  const service =
    error instanceof ServiceError ? defined({ code: error.code, retryAfterS: error.retryAfterS }) : undefined;
  return { message: error.message, code: "code" in error ? String(error.code) : undefined, service };
}

export type ThreadClient<Request, Result> = ReturnType<typeof threadClient<Request, Result>>;

/** Sends requests to a worker that uses `serveRequests`. */
export function threadClient<Request, Result>(worker: Worker) {
  const pending = new Map<number, PromiseWithResolvers<Result | undefined>>();
  let lastId = 0;
  const exited = Promise.withResolvers<void>();
  let cause: unknown;
  let ended: Error | undefined;

  worker.on("message", (response: ThreadResponse<Result>) => {
    const request = pending.get(response.id);
    pending.delete(response.id);
    if (pending.size === 0) worker.unref();
    if ("error" in response) {
      const { message, code, service } = response.error;
      const error =
        service === undefined ? new Error(message) : new ServiceError(service.code, message, service);
      request?.reject(Object.assign(error, { code }));
    } else request?.resolve(response.result);
  });
  worker.on("error", (error) => {
    cause = error;
  });
  worker.on("exit", () => {
    rejectAll(threadEnded(cause));
    exited.resolve();
  });
  // After adding the listeners, each of which keeps the process alive again.
  worker.unref();

  function rejectAll(reason: Error): void {
    ended ??= reason;
    for (const request of pending.values()) request.reject(ended);
    pending.clear();
  }

  async function send(request: Request | "close", transferred: readonly ArrayBuffer[] = []) {
    if (ended !== undefined) throw ended;
    lastId += 1;
    worker.postMessage({ id: lastId, request } satisfies ThreadRequest<Request>, transferred);
    // A busy thread keeps the process alive, an idle one does not.
    worker.ref();
    const response = Promise.withResolvers<Result | undefined>();
    pending.set(lastId, response);
    return await response.promise;
  }

  return {
    hasEnded: () => ended !== undefined,
    /** Requests of one lane are handled one after the other, in their order. Transferred buffers are lost to the sender. */
    // Only "close" has no result.
    send: async (request: Request, transferred?: readonly ArrayBuffer[]): Promise<Result> =>
      (await send(request, transferred)) as Result,
    /** Lets the thread close its resources, then ends it. */
    async end(): Promise<void> {
      if (ended !== undefined) return;
      // If the thread dies instead, its resources are closed as well.
      await send("close").catch(() => undefined);
      await worker.terminate();
    },
    /** Rejects all pending and later requests. Resolves when the thread has finished its current request and ended. */
    async abandon(reason: Error): Promise<void> {
      rejectAll(reason);
      worker.unref();
      worker.terminate();
      await exited.promise;
    },
  };
}

function threadEnded(cause: unknown): Error {
  const message = "The database's thread ended before it responded";
  return Object.assign(new Error(message, { cause }), { code: "ERR_WORKER_NOT_RUNNING" });
}

/** The writes of a thread, by kind. */
export type Writes = Record<string, (database: Database, payload: never) => Promise<unknown>>;

interface WriteRequest {
  kind: string;
  payload: unknown;
}

export type Writer<Kinds extends Writes> = ReturnType<typeof writerThread<Kinds>>;

/**
 * Sends writes to a thread that writes into the SQLite file at `path`, so that only that thread waits for the disk. It starts with the
 * first write and is replaced if it dies. It ends after `idleMs` without a write or, if that is absent, with the process.
 */
export function writerThread<Kinds extends Writes>(
  path: string,
  start: (workerData: WriterData) => Worker,
  idleMs?: number,
) {
  let thread: ThreadClient<WriteRequest, unknown> | undefined;
  let inProgress = 0;
  let idling: NodeJS.Timeout | undefined;
  let ended: Promise<void> = Promise.resolve();

  async function write(request: WriteRequest): Promise<unknown> {
    if (thread === undefined || thread.hasEnded())
      thread = threadClient(start(writerData(path, thread !== undefined)));
    const current = thread;
    return await current.send(request).catch((error: unknown) => {
      // A thread that dies may already have committed.
      throw current.hasEnded() || isStoreUncertain(error) ? storeUncertain(error) : error;
    });
  }

  /** A later write starts another thread. */
  function end(): Promise<void> {
    clearTimeout(idling);
    const ending = thread;
    thread = undefined;
    ended = ended.then(() => ending?.end());
    return ended;
  }

  return {
    /** Writes of one kind are done one after the other, in their order. A payload is copied: a long one as text is five times as fast. */
    send<Kind extends keyof Kinds>(kind: Kind, payload: Parameters<Kinds[Kind]>[1]) {
      clearTimeout(idling);
      inProgress += 1;
      const written = write({ kind: String(kind), payload }).finally(() => {
        inProgress -= 1;
        if (inProgress === 0 && idleMs !== undefined) idling = setTimeout(end, idleMs).unref();
      });
      // The handler of the kind returns this type.
      return written as ReturnType<Kinds[Kind]>;
    },
    end,
  };
}

/** A thread's side of `writerThread`. If the file cannot be opened, the request fails and nothing was stored; the next one tries again. */
export function serveWrites(open: (data: WriterData) => Database, writes: Writes): void {
  let database: Database | undefined;
  serveRequests<WriteRequest, unknown>({
    respond({ kind, payload }) {
      database ??= open(workerData);
      return writes[kind]?.(database, payload as never);
    },
    async close() {
      await database?.destroy();
    },
    // Results with long texts are written in parts, and other kinds get through between the parts.
    laneOf: ({ kind }) => kind,
  });
}
