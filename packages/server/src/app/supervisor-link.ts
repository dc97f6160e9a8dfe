import { ServiceError } from "../platform/errors.ts";
import type { Figures, Question, Started, SupervisorRequest, ToSupervisor, ToWorker } from "./workers.ts";

/** Longer than the supervisor waits for the other workers. */
const responseTimeoutMs = 3_000;

/** A worker's channel to its supervisor. */
export interface SupervisorLink {
  /** The server listens, but is not ready. */
  listening(port: number): void;
  ready(started: Started): void;
  /** The metrics of all workers. */
  readMetrics(): Promise<string>;
  /** Returns once all other workers have forgotten the key, or have had their time. */
  forgetKey(digest: string): Promise<void>;
  /** How the supervisor's questions are answered from now on. */
  answerWith(answers: Answers): void;
  /** Resolves when the supervisor has ended. */
  readonly closed: Promise<string>;
}

export interface Answers {
  figures(): Promise<Figures>;
  forgetKey(digest: string): void;
  rereadFiles(): Promise<void>;
}

/** Connects to the process that started this one, or returns undefined if that is no supervisor. */
export function connectToSupervisor(): SupervisorLink | undefined {
  if (process.send === undefined) return undefined;
  const waiting = new Map<number, (text: string | undefined) => void>();
  const closed = Promise.withResolvers<string>();
  let lastId = 0;
  let answers: Answers | undefined;
  let missedReread = false;

  function send(message: ToSupervisor): void {
    if (process.connected) process.send?.(message);
  }

  async function answer(question: Question): Promise<Figures | undefined> {
    if (question.kind === "figures") return await answers?.figures();
    if (question.kind === "forget-key") answers?.forgetKey(question.digest);
    else if (answers !== undefined) await answers.rereadFiles();
    // A file may have been read before it changed.
    else missedReread = true;
    return undefined;
  }

  async function request(wanted: SupervisorRequest): Promise<string | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
    lastId += 1;
    const id = lastId;
    waiting.set(id, resolve);
    const timer = setTimeout(
      () => reject(new ServiceError("overloaded", "The supervisor did not respond in time.")),
      responseTimeoutMs,
    );
    send({ kind: "request", id, request: wanted });
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      waiting.delete(id);
    }
  }

  process.on("message", (message: ToWorker) => {
    if (message.kind === "response") waiting.get(message.id)?.(message.text);
    else
      void answer(message.question).then((figures) =>
        send({ kind: "answer", id: message.id, ...(figures && { figures }) }),
      );
  });
  process.on("disconnect", () => closed.resolve("the supervisor ended"));

  return {
    listening: (port) => send({ kind: "listening", port }),
    ready: (started) => send({ kind: "ready", started }),
    async readMetrics() {
      return (await request({ kind: "metrics" })) ?? "";
    },
    async forgetKey(digest) {
      // The database has the revocation: a worker that is not told looks the key up within 5 s.
      await request({ kind: "forget-key", digest }).catch(() => {});
    },
    answerWith(given) {
      answers = given;
      if (missedReread) void given.rereadFiles();
    },
    closed: closed.promise,
  };
}
