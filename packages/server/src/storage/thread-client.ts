import type { Worker } from "node:worker_threads";
import type { ThreadAnswer } from "./serve-requests.ts";

export interface ThreadClient<Request, Result> {
  hasEnded(): boolean;
  /** Requests are answered one after the other, in their order. */
  ask(request: Request): Promise<Result>;
  /** Lets the thread close what it has open, then ends it. */
  end(): Promise<void>;
  /** Fails what is unanswered and takes no more. Resolves when the thread has ended, which it does after what it runs. */
  giveUp(reason: Error): Promise<void>;
}

/** Speaks with a worker that uses `answerRequests`. */
export function threadClient<Request, Result>(worker: Worker): ThreadClient<Request, Result> {
  const unanswered: PromiseWithResolvers<Result | undefined>[] = [];
  const exited = Promise.withResolvers<void>();
  let cause: unknown;
  let ended: Error | undefined;

  worker.on("message", (answer: ThreadAnswer<Result>) => {
    const asked = unanswered.shift();
    if (unanswered.length === 0) worker.unref();
    if ("failure" in answer) {
      asked?.reject(Object.assign(new Error(answer.failure.message), { code: answer.failure.code }));
    } else asked?.resolve(answer.result);
  });
  worker.on("error", (error) => {
    cause = error;
  });
  worker.on("exit", () => {
    ended ??= threadEnded(cause);
    for (const asked of unanswered.splice(0)) asked.reject(ended);
    exited.resolve();
  });
  // After the listeners, each of which holds on to the process anew.
  worker.unref();

  async function ask(request: Request | "close"): Promise<Result | undefined> {
    if (ended !== undefined) throw ended;
    worker.postMessage(request);
    // A thread that owes an answer keeps the process alive, an idle one does not.
    worker.ref();
    const asked = Promise.withResolvers<Result | undefined>();
    unanswered.push(asked);
    return await asked.promise;
  }

  return {
    hasEnded: () => ended !== undefined,
    // Only «close» is answered with nothing.
    ask: async (request) => (await ask(request)) as Result,
    async end() {
      if (ended !== undefined) return;
      // A thread that dies instead has closed as well.
      await ask("close").catch(() => undefined);
      await worker.terminate();
    },
    async giveUp(reason) {
      ended ??= reason;
      for (const asked of unanswered.splice(0)) asked.reject(ended);
      worker.unref();
      worker.terminate();
      await exited.promise;
    },
  };
}

function threadEnded(cause: unknown): Error {
  const message = "The database's thread ended before it answered";
  return Object.assign(new Error(message, { cause }), { code: "ERR_WORKER_NOT_RUNNING" });
}
