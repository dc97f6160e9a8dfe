import { parentPort } from "node:worker_threads";

/** An error's parts: the copy that another thread receives would lose its code. */
export interface ThreadError {
  message: string;
  code: string | undefined;
}

/** One for every request, in their order; "close" has no result. */
export type ThreadResponse<Result> = { result: Result | undefined } | { error: ThreadError };

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
  if (!(error instanceof Error)) return { message: String(error), code: undefined };
  return { message: error.message, code: "code" in error ? String(error.code) : undefined };
}
