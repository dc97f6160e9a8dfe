import { type Config, hasFilesToReread } from "../config/config.ts";
import { ServiceError } from "../platform/errors.ts";
import type { Logger } from "../platform/observability/logger.ts";
import { defined } from "../platform/words.ts";
import {
  createWorkerFigures,
  type Figures,
  holdAddress,
  type Question,
  type Started,
  type SupervisorRequest,
  startWorker,
  type ToSupervisor,
  type ToWorker,
  type WorkerExit,
  type WorkerProcess,
} from "./workers.ts";

const firstPauseMs = 500;
const longestPauseMs = 30_000;
/** A worker that ran this long did not fail right at its start. */
const soundAfterMs = 10_000;

type RestartPause = ReturnType<typeof createRestartPause>;

/** The first restart is immediate. The pause doubles while the worker ends soon after each start. */
export function createRestartPause() {
  let failures = 0;
  return {
    /** How long to wait before a worker that ran for `ranMs` is started again. */
    after(ranMs: number): number {
      failures = ranMs < soundAfterMs ? failures + 1 : 0;
      return failures <= 1 ? 0 : Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - 2));
    },
  };
}

export interface SupervisorOptions {
  logger: Logger;
  /** Resolves with the signal that stops the server. */
  stopped: Promise<NodeJS.Signals>;
  /** Called once, when the first worker is ready. */
  onReady(started: Started): void;
}

/** A worker's slot, which is refilled when the worker ends. */
interface Slot {
  readonly index: number;
  readonly pause: RestartPause;
  worker: WorkerProcess | undefined;
  restart: Timer | undefined;
}

/**
 * Runs the configured number of workers on one port, restarts those that end, and returns the exit code once a signal has stopped them all.
 * The first worker starts alone: it migrates the database, and if it cannot start, the server cannot.
 */
export async function supervise(config: Config, options: SupervisorOptions): Promise<number> {
  const held = await holdAddress(config.listen);
  try {
    return await superviseWorkers(config, options);
  } finally {
    held.release();
  }
}

async function superviseWorkers(
  config: Config,
  { logger, stopped, onReady }: SupervisorOptions,
): Promise<number> {
  const figures = createWorkerFigures();
  const firstReady = Promise.withResolvers<Started>();
  const { running, ...slots } = createSlots(config.workers.count, logger, figures, receive);

  async function askAll(question: Question, except?: WorkerProcess): Promise<void> {
    await Promise.all(running().map((worker) => (worker === except ? undefined : worker.ask(question))));
  }

  async function receive(message: FromWorker, from: WorkerProcess) {
    if (message.kind === "listening") slots.shareAddress(message.port);
    else if (message.kind === "ready") firstReady.resolve(message.started);
    else if (message.request.kind === "last-figures") {
      figures.keep(from, message.request.figures);
      from.send({ kind: "response", id: message.id });
    } else if (message.request.kind === "metrics")
      from.send({ kind: "response", id: message.id, text: await figures.read(running()) });
    else {
      await askAll(message.request, from);
      from.send({ kind: "response", id: message.id });
    }
  }

  // Without such files, SIGHUP ends this process, and the workers follow.
  if (hasFilesToReread(config)) process.on("SIGHUP", () => void askAll({ kind: "reread-files" }));

  const first = slots.startFirst();
  const outcome = await Promise.race([firstReady.promise, first.exited, stopped]);
  if (typeof outcome === "string") return await slots.stop(outcome);
  if ("code" in outcome) {
    if (outcome.signal !== null) logger.error(outcome, "the first worker ended before it was ready");
    return outcome.code ?? 1;
  }
  onReady(outcome);
  slots.keepFilled();
  const signal = await stopped;
  logger.info({ signal, workers: running().length }, "stopping the workers");
  const code = await slots.stop(signal);
  logger.info("stopped");
  return code;
}

type FromWorker = Exclude<ToSupervisor, { kind: "answer" }>;

/** The workers, in their slots. */
function createSlots(
  count: number,
  logger: Logger,
  figures: ReturnType<typeof createWorkerFigures>,
  receive: (message: FromWorker, from: WorkerProcess) => Promise<void>,
) {
  const instanceId = Bun.randomUUIDv7();
  const [firstSlot, ...others] = Array.from(
    { length: count },
    (_, index): Slot => ({ index, pause: createRestartPause(), worker: undefined, restart: undefined }),
  );
  if (firstSlot === undefined) throw new Error("A supervisor needs workers");
  const slots = [firstSlot, ...others];
  /** The port of the first worker. */
  let port: number | undefined;
  let areFilled = false;

  function start(slot: Slot): WorkerProcess {
    const worker = startWorker({ index: slot.index, instanceId, ...defined({ port }) }, (message) =>
      receive(message, worker),
    );
    slot.worker = worker;
    void worker.exited.then((exit) => refill(slot, worker, exit));
    return worker;
  }

  function refill(slot: Slot, worker: WorkerProcess, exit: WorkerExit): void {
    slot.worker = undefined;
    figures.retire(worker);
    if (!areFilled) return;
    figures.countRestart();
    const pauseMs = slot.pause.after(performance.now() - worker.startedAtMs);
    // The end of a worker that was told to end is not an error.
    logger[exit.code === 0 ? "info" : "error"](
      { worker: slot.index + 1, processId: worker.pid, ...exit, pauseMs },
      "a worker ended; starting another",
    );
    slot.restart = setTimeout(() => start(slot), pauseMs);
  }

  const running = () => slots.flatMap(({ worker }) => worker ?? []);

  return {
    running,
    startFirst: () => start(firstSlot),
    shareAddress(given: number): void {
      port = given;
    },
    /** Starts the other workers. From now on, each worker that ends is replaced. */
    keepFilled(): void {
      areFilled = true;
      for (const slot of others) start(slot);
    },
    /** Returns the exit code of the server: 0 if every worker stopped as told. */
    async stop(signal: NodeJS.Signals): Promise<number> {
      areFilled = false;
      for (const { restart } of slots) clearTimeout(restart);
      const exits = running().map((worker) => {
        worker.kill(signal);
        return worker.exited;
      });
      // A worker that has not begun yet is ended by the signal itself.
      const isClean = (exit: WorkerExit) => exit.code === 0 || exit.signal === signal;
      return (await Promise.all(exits)).every(isClean) ? 0 : 1;
    },
  };
}

/** Longer than the supervisor waits for the other workers' answers. */
const responseTimeoutMs = 3_000;

interface Answers {
  figures(): Promise<Figures>;
  forgetKey(digest: string): void;
  rereadFiles(): Promise<void>;
}

/** A worker's channel to its supervisor. */
export type SupervisorLink = NonNullable<ReturnType<typeof connectToSupervisor>>;

/** Connects to the process that started this one, or returns undefined if that is not a supervisor. */
export function connectToSupervisor() {
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
    // A file may have been read before it changed, so it is read again later.
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
    /** Reports that the server listens, but is not ready. */
    listening: (port: number): void => send({ kind: "listening", port }),
    ready: (started: Started): void => send({ kind: "ready", started }),
    async readMetrics(): Promise<string> {
      return (await request({ kind: "metrics" })) ?? "";
    },
    /** Returns once all other workers have forgotten the key, or their time is up. */
    async forgetKey(digest: string): Promise<void> {
      // The database has the revocation: a worker that is not told looks the key up again within 5 s.
      await request({ kind: "forget-key", digest }).catch(() => {});
    },
    /** Sets the answers to the supervisor's questions from now on. */
    answerWith(given: Answers): void {
      answers = given;
      if (missedReread) void given.rereadFiles();
    },
    /** To be called before the worker ends, so that its counts remain. */
    async sendLastFigures(): Promise<void> {
      const figures = await answers?.figures();
      // A supervisor that has ended shows no metrics.
      if (figures === undefined || !process.connected) return;
      await request({ kind: "last-figures", figures }).catch(() => {});
    },
    /** Resolves when the supervisor has ended. */
    closed: closed.promise,
  };
}
