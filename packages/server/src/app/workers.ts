import {
  AggregatorRegistry,
  Gauge,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from "prom-client";
import type { Config, Workers } from "../config/config.ts";
import { quarterOfMemory } from "../platform/limits/memory.ts";
import { createCounter } from "../platform/observability/metrics.ts";
import { addressInUseError, listenAddress, probeAddress } from "./listen.ts";

/** Keeps other supervisors from the address until it is released or the process ends. */
export interface HeldAddress {
  release(): void;
}

/**
 * Makes sure that no other process listens at the address, or throws a `ListenError`. Workers share their port (SO_REUSEPORT), so the
 * system would let a second server's workers join them. Listening once without it detects everyone who already listens; a name in the
 * abstract namespace, which the system releases with the process, keeps two supervisors from trying at the same time.
 */
export async function holdAddress({ host, port }: { host: string; port: number }): Promise<HeldAddress> {
  // The system gives the first worker a free port, which nobody else has.
  if (port === 0) return { release() {} };
  const lock = takeName(`presage ${listenAddress(host, port)}`);
  if (lock === undefined) throw addressInUseError(host, port);
  try {
    await probeAddress({ host, port });
  } catch (error) {
    lock.stop(true);
    throw error;
  }
  return { release: () => lock.stop(true) };
}

function takeName(name: string): { stop(closeActive: boolean): void } | undefined {
  try {
    return Bun.listen({ unix: `\0${name}`, socket: { data() {} } });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") return undefined;
    throw error;
  }
}

/** The metrics of one process. */
export type Figures = MetricObjectWithValues<MetricValue<string>>[];

/** The questions that the supervisor asks a worker. */
export type Question =
  | { kind: "figures" }
  /** Look this key up again before its next use: it was revoked. */
  | { kind: "forget-key"; digest: string }
  | { kind: "reread-files" };

/** Messages from the supervisor to a worker. */
export type ToWorker =
  | { kind: "question"; id: number; question: Question }
  /** The response to a request of the worker; `text` has the metrics of all workers. */
  | { kind: "response"; id: number; text?: string };

/** Messages from a worker to the supervisor. Each request gets a response. */
export type ToSupervisor =
  | { kind: "listening"; port: number }
  | { kind: "ready"; started: Started }
  | { kind: "answer"; id: number; figures?: Figures }
  | { kind: "request"; id: number; request: SupervisorRequest };

/** A worker's requests to the supervisor: for the metrics of all workers, that all others forget a key, or to keep its own last metrics. */
export type SupervisorRequest =
  | { kind: "metrics" }
  | { kind: "forget-key"; digest: string }
  | { kind: "last-figures"; figures: Figures };

/** How the supervisor starts a worker. */
export interface WorkerStart {
  /** From 0. */
  index: number;
  /** The same for all workers, as they are one server. */
  instanceId: string;
  /** Where the other workers already listen. Absent for the first worker, which listens before it is ready, like a single process. */
  port?: number;
}

/** A server that is ready, as reported to its operator. */
export interface Started {
  /** The address that it listens at. */
  address: string;
  /** The address that browsers use. */
  publicUrl: string;
  /** The one-time sign-in link of local mode. */
  signInAddress: string | undefined;
  /** The owner's first key, if this start created it. */
  firstKey: string | undefined;
}

/** One worker's share of a limit for all of them together; at least 1, and the whole limit for a single process. */
export function shareOf(limit: number, { count, index }: Workers): number {
  return Math.max(1, Math.floor(limit / count) + (index < limit % count ? 1 : 0));
}

/** The configuration of one worker: each limit of the whole server is divided, except rates, which `composeLimits` divides. */
export function configOfWorker(config: Config, index: number): Config {
  const workers = Object.freeze({ count: config.workers.count, index });
  const { cache, prediction, evaluation, runs, judge, memoryBudgetBytes } = config;
  return Object.freeze({
    ...config,
    workers,
    cache: Object.freeze({ ...cache, maxBytes: shareOf(cache.maxBytes, workers) }),
    memoryBudgetBytes: shareOf(memoryBudgetBytes ?? quarterOfMemory(), workers),
    prediction: Object.freeze({ ...prediction, maxInFlight: shareOf(prediction.maxInFlight, workers) }),
    evaluation: Object.freeze({
      ...evaluation,
      maxInFlight: shareOf(evaluation.maxInFlight, workers),
      maxInFlightEach: shareOf(evaluation.maxInFlightEach, workers),
    }),
    runs: Object.freeze({ maxInFlight: shareOf(runs.maxInFlight, workers) }),
    judge: Object.freeze({ ...judge, maxInFlight: shareOf(judge.maxInFlight, workers) }),
  });
}

/** How long a worker may take to answer a question. */
const answerTimeoutMs = 1_000;

/** Either `code` or `signal` is null. */
export interface WorkerExit {
  code: number | null;
  signal: string | null;
}

/** A worker process, as seen by the supervisor. */
export type WorkerProcess = ReturnType<typeof startWorker>;

/** Starts a worker: this program with the command `worker`, and a channel to it. It writes to the supervisor's outputs. */
export function startWorker(
  start: WorkerStart,
  onMessage: (message: Exclude<ToSupervisor, { kind: "answer" }>) => void,
) {
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
      // The worker has ended, or is about to.
    }
  }

  return {
    pid: child.pid,
    startedAtMs: performance.now(),
    exited,
    send,
    kill: (signal: NodeJS.Signals): void => child.kill(signal),
    /** Resolves without figures if the worker does not answer in time, or ends. */
    async ask(question: Question): Promise<Figures | undefined> {
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

/** The command that runs this program: Bun and a file, or the compiled executable. */
function programArguments(): string[] {
  const isCompiled = Bun.main.startsWith("/$bunfs/");
  return [process.execPath, ...process.execArgv, ...(isCompiled ? [] : [Bun.main])];
}

type Worker = Pick<WorkerProcess, "ask">;

/** The metrics of all workers together. */
export function createWorkerFigures<Of extends Worker>() {
  const latest = new Map<Of, Figures>();
  let retired: Figures = [];
  let running = 0;
  const own = new Registry();
  const countRestart = createCounter(own, {
    name: "presage_worker_restarts_total",
    help: "Workers that ended and were replaced.",
    labelNames: [],
  });
  new Gauge({
    name: "presage_workers",
    help: "Worker processes that answered.",
    registers: [own],
    collect() {
      this.set(running);
    },
  });

  return {
    /** In Prometheus' text format. A worker that does not answer in time is counted with its last answer. */
    async read(workers: readonly Of[]): Promise<string> {
      const answered = await Promise.all(
        workers.map(async (worker) => {
          const figures = await worker.ask({ kind: "figures" });
          // Stored immediately, as the worker may be retired before the others have answered.
          if (figures !== undefined) latest.set(worker, figures);
          return figures !== undefined;
        }),
      );
      running = answered.filter(Boolean).length;
      return await sum([...latest.values(), retired, await own.getMetricsAsJSON()]).metrics();
    },
    /** Keeps the last figures of a worker that is about to end. */
    keep: (worker: Of, figures: Figures): void => void latest.set(worker, figures),
    /** Keeps the counts of a worker that has ended, as far as they are known. */
    retire(worker: Of): void {
      const figures = latest.get(worker) ?? [];
      latest.delete(worker);
      // Without these counts the sums would fall, which Prometheus takes for a restart of the whole server, counting everything once more.
      const counts = figures.filter(({ type }) => ["counter", "histogram"].includes(String(type)));
      if (counts.length > 0) retired = sum([retired, counts]).getMetricsAsArray() as Figures;
    },
    countRestart: (): void => countRestart([]),
  };
}

/** Adds up figures as the metrics of one process. Each metric says how (`aggregator`); most are added up. */
function sum(all: readonly Figures[]): Registry {
  return AggregatorRegistry.aggregate([...all]);
}
