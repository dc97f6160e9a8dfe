import type { Figures, Question, ToSupervisor, ToWorker, WorkerStart } from "./messages.ts";

/** How long a worker may take to answer a question. */
const answerTimeoutMs = 1_000;

/** A worker process, as the supervisor sees it. */
export interface WorkerProcess {
  readonly pid: number;
  readonly startedAtMs: number;
  /** Resolves without figures if the worker does not answer in time, or ends. */
  ask(question: Question): Promise<Figures | undefined>;
  send(message: ToWorker): void;
  kill(signal: NodeJS.Signals): void;
  readonly exited: Promise<WorkerExit>;
}

/** One of the two is null. */
export interface WorkerExit {
  code: number | null;
  signal: string | null;
}

/** Starts a worker: this program with the command `worker`, and a channel to it. It writes to the supervisor's outputs. */
export function startWorker(
  start: WorkerStart,
  onMessage: (message: Exclude<ToSupervisor, { kind: "answer" }>) => void,
): WorkerProcess {
  const unanswered = new Map<number, (figures: Figures | undefined) => void>();
  let lastId = 0;

  const child = Bun.spawn([...programArguments(), "worker", JSON.stringify(start)], {
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
    env: process.env,
    ipc(message: ToSupervisor) {
      if (message.kind === "answer") unanswered.get(message.id)?.(message.figures);
      else onMessage(message);
    },
  });
  const exited = child.exited.then((code): WorkerExit => {
    for (const answer of unanswered.values()) answer(undefined);
    const { signalCode } = child;
    return signalCode === null ? { code, signal: null } : { code: null, signal: String(signalCode) };
  });

  function send(message: ToWorker): void {
    try {
      child.send(message);
    } catch {
      // It has ended, or is about to.
    }
  }

  return {
    pid: child.pid,
    startedAtMs: performance.now(),
    exited,
    send,
    kill: (signal) => child.kill(signal),
    async ask(question) {
      const { promise, resolve } = Promise.withResolvers<Figures | undefined>();
      lastId += 1;
      const id = lastId;
      unanswered.set(id, resolve);
      const timer = setTimeout(() => resolve(undefined), answerTimeoutMs);
      if (child.exitCode === null && child.signalCode === null) send({ kind: "question", id, question });
      else resolve(undefined);
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        unanswered.delete(id);
      }
    },
  };
}

/** What runs this program: Bun and a file, or the compiled executable. */
function programArguments(): string[] {
  const isCompiled = Bun.main.startsWith("/$bunfs/");
  return [process.execPath, ...process.execArgv, ...(isCompiled ? [] : [Bun.main])];
}
