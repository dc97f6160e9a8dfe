import { parentPort, type Worker, type WorkerOptions, workerData } from "node:worker_threads";
import { ServiceError, type ServiceErrorCode } from "../errors.ts";
import type { Database } from "./schema/tables.ts";
import { type WriterData, writerData } from "./sqlite-turns.ts";
import { isStoreUncertain, storeUncertain } from "./store-error.ts";

/** Options of a thread that collects its garbage early instead of after tens of megabytes, and so is a little slower. */
export function smallHeap(workerData: unknown): WorkerOptions {
  // Bun's own.
  const options: WorkerOptions & { smol: boolean } = { workerData, smol: true };
  return options;
}

/** An error's parts: the copy that another thread receives would lose its code. */
interface ThreadError {
  message: string;
  code: string | undefined;
  /** What else it has if it is a `ServiceError`. */
  service: { code: ServiceErrorCode; retryAfterS?: number } | undefined;
}

/** One for every request, in their order; "close" has no result. */
type ThreadResponse<Result> = { result: Result | undefined } | { error: ThreadError };

/** A thread's side of `threadClient`: handles requests one after the other. */
export function serveRequests<Request, Result>(handlers: {
  respond(request: Request): Result | Promise<Result>;
  close(): void | Promise<void>;
}): void {
  let last: Promise<void> = Promise.resolve();
  parentPort?.on("message", (request: Request | "close") => {
    last = last.then(async () => parentPort?.postMessage(await settle(request)));
  });

  async function settle(request: Request | "close"): Promise<ThreadResponse<Result>> {
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
  const service = error instanceof ServiceError ? servicePartsOf(error) : undefined;
  return { message: error.message, code: "code" in error ? String(error.code) : undefined, service };
}

function servicePartsOf({ code, retryAfterS }: ServiceError) {
  return { code, ...(retryAfterS === undefined ? {} : { retryAfterS }) };
}

export interface ThreadClient<Request, Result> {
  hasEnded(): boolean;
  /** Requests are handled one after the other, in their order. */
  send(request: Request): Promise<Result>;
  /** Lets the thread close its resources, then ends it. */
  end(): Promise<void>;
  /** Rejects all pending and later requests. Resolves when the thread has finished its current request and ended. */
  abandon(reason: Error): Promise<void>;
}

/** Sends requests to a worker that uses `serveRequests`. */
export function threadClient<Request, Result>(worker: Worker): ThreadClient<Request, Result> {
  const pending: PromiseWithResolvers<Result | undefined>[] = [];
  const exited = Promise.withResolvers<void>();
  let cause: unknown;
  let ended: Error | undefined;

  worker.on("message", (response: ThreadResponse<Result>) => {
    const request = pending.shift();
    if (pending.length === 0) worker.unref();
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
    ended ??= threadEnded(cause);
    for (const request of pending.splice(0)) request.reject(ended);
    exited.resolve();
  });
  // After adding the listeners, each of which keeps the process alive again.
  worker.unref();

  async function send(request: Request | "close"): Promise<Result | undefined> {
    if (ended !== undefined) throw ended;
    worker.postMessage(request);
    // A busy thread keeps the process alive, an idle one does not.
    worker.ref();
    const response = Promise.withResolvers<Result | undefined>();
    pending.push(response);
    return await response.promise;
  }

  return {
    hasEnded: () => ended !== undefined,
    // Only "close" has no result.
    send: async (request) => (await send(request)) as Result,
    async end() {
      if (ended !== undefined) return;
      // If the thread dies instead, its resources are closed as well.
      await send("close").catch(() => undefined);
      await worker.terminate();
    },
    async abandon(reason) {
      ended ??= reason;
      for (const request of pending.splice(0)) request.reject(ended);
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

/**
 * Sends requests to a thread that writes into the SQLite file at `path`, so that only that thread waits for the disk. It starts with the
 * first request and is replaced if it dies.
 */
export function writerThread<Request, Result>(
  path: string,
  start: (workerData: WriterData) => Worker,
): Pick<ThreadClient<Request, Result>, "send" | "end"> {
  let thread: ThreadClient<Request, Result> | undefined;
  return {
    async send(request) {
      if (thread === undefined || thread.hasEnded())
        thread = threadClient(start(writerData(path, thread !== undefined)));
      const current = thread;
      return await current.send(request).catch((error: unknown) => {
        // A thread that dies may already have committed.
        throw current.hasEnded() || isStoreUncertain(error) ? storeUncertain(error) : error;
      });
    },
    async end() {
      // A later request starts another one.
      const ending = thread;
      thread = undefined;
      await ending?.end();
    },
  };
}

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
