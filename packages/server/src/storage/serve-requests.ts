import { parentPort } from "node:worker_threads";

/** An error crosses as its parts: a copied Error keeps its message but loses its code. */
export interface ThreadFailure {
  message: string;
  code: string | undefined;
}

/** Every request gets one, in the order of the requests; «close» gets one without a result. */
export type ThreadAnswer<Result> = { result: Result | undefined } | { failure: ThreadFailure };

/** A thread's side of `threadClient`: answers what it is asked, one after the other. */
export function answerRequests<Request, Result>(parts: {
  answer(request: Request): Result | Promise<Result>;
  close(): void | Promise<void>;
}): void {
  let last: Promise<void> = Promise.resolve();
  parentPort?.on("message", (request: Request | "close") => {
    last = last.then(async () => parentPort?.postMessage(await settle(request)));
  });

  async function settle(request: Request | "close"): Promise<ThreadAnswer<Result>> {
    try {
      if (request !== "close") return { result: await parts.answer(request) };
      await parts.close();
      return { result: undefined };
    } catch (error) {
      return { failure: toFailure(error) };
    }
  }
}

function toFailure(error: unknown): ThreadFailure {
  if (!(error instanceof Error)) return { message: String(error), code: undefined };
  return { message: error.message, code: "code" in error ? String(error.code) : undefined };
}
