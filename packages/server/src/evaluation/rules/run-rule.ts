import { availableParallelism } from "node:os";
import type { Tinypool } from "tinypool";
import { createFairSlots } from "../../limits/fair-slots.ts";
import type { Asker } from "../../storage/reader.ts";
import { refuseLongSample } from "../evaluate/refuse-long-sample.ts";
import { EvaluationError, type RuleFamily } from "../evaluators/family.ts";
import { charactersOf } from "../sample.ts";
import type { ConfigCheckTask } from "./check-heavily.ts";
import { createRuleEvaluator, type RuleTask, type TimedVerdict } from "./evaluate-by-rule.ts";
import { crashed, type RuleOutcome, settleRule, verdictOf } from "./rule-outcome.ts";

/** How long the rest of a request may hold up the main thread. What runs on it is taken off. */
export interface PlaceAllowance {
  msInPlace: number;
}

export interface RuleRunner {
  /**
   * Evaluates a sample here if that is quick and the request has time left for it, else in a thread. Accounts get the
   * threads in turns.
   * @throws UnusableSampleError; EvaluationError `timeout`, `overloaded`, `internal_error` (its cause says why); the
   * signal's reason, after it was aborted.
   */
  run(
    task: RuleTask,
    accountId: string,
    signal: AbortSignal,
    allowance: PlaceAllowance,
  ): Promise<TimedVerdict>;
  /**
   * Does the heavy part of a config's check in a thread and says what is wrong with the config.
   * @throws EvaluationError `timeout`, `overloaded`, `internal_error`.
   */
  check(task: ConfigCheckTask, asker: Asker): Promise<string | undefined>;
  /** Ends the threads, and what runs in them. */
  dispose(): Promise<void>;
}

export interface RuleRunnerOptions {
  families: readonly RuleFamily<unknown>[];
  /** The module of the threads, which has a `runRuleTask` and a `checkRuleConfig`. */
  threadModule: URL;
  maxThreads: number;
  /** A thread without work ends after this long. */
  idleThreadMs: number;
  /** How many evaluations of one account may wait for a thread, and how long each. */
  maxWaitingEach: number;
  maxWaitMs: number;
  /** Deadline of one evaluation in a thread, from when the thread takes it. */
  runTimeoutMs: number;
  /** Samples with more text than this go to a thread, whatever their family says. */
  maxCharactersInPlace: number;
}

export const ruleRunnerDefaults = {
  threadModule: new URL("./rule-thread.ts", import.meta.url),
  maxThreads: Math.max(1, availableParallelism() - 1),
  idleThreadMs: 30_000,
  maxWaitingEach: 256,
  maxWaitMs: 60_000,
  runTimeoutMs: 10_000,
  maxCharactersInPlace: 100_000,
} satisfies Omit<RuleRunnerOptions, "families">;

export function createRuleRunner(options: RuleRunnerOptions): RuleRunner {
  const { maxThreads, maxWaitingEach, maxWaitMs, runTimeoutMs } = options;
  const familiesByName = new Map(options.families.map((family) => [family.name, family]));
  const evaluateHere = createRuleEvaluator(options.families);
  const slots = createFairSlots({
    slots: maxThreads,
    queue: {
      maxWaitingEach,
      maxWaitMs,
      refuse: (why) =>
        why === "queue full"
          ? new EvaluationError("overloaded", "Too many heavy evaluations of this account wait already.")
          : new EvaluationError("overloaded", `No thread was free within ${maxWaitMs} ms.`),
    },
  });
  const underWay = new Set<AbortController>();
  const stopping = new EvaluationError("overloaded", "The server stops.");
  let isStopped = false;
  let pool: Promise<Tinypool> | undefined;

  // Most servers never meet a heavy sample, and the library takes 8 MB.
  async function openPool(): Promise<Tinypool> {
    const { Tinypool } = await import("tinypool");
    const opened = new Tinypool({
      filename: options.threadModule.href,
      runtime: "worker_threads",
      minThreads: 0,
      maxThreads,
      idleTimeout: options.idleThreadMs,
    });
    // A thread that dies without a task harms nobody; unheard, the event would end the process.
    opened.on("error", () => {});
    return opened;
  }

  function isExpensive({ familyName, config, sample }: RuleTask): boolean {
    if (charactersOf(sample) > options.maxCharactersInPlace) return true;
    return familiesByName.get(familyName)?.isExpensive?.(sample, config) ?? false;
  }

  /** Most evaluations take microseconds, but twenty that are just not heavy would hold up everybody. */
  function runHere(task: RuleTask, allowance: PlaceAllowance): TimedVerdict {
    const startedAtMs = performance.now();
    try {
      return verdictOf(settleRule(() => evaluateHere(task)));
    } finally {
      allowance.msInPlace -= performance.now() - startedAtMs;
    }
  }

  async function runInThread<Outcome>(
    task: ConfigCheckTask,
    { accountId, signal: callerGone }: Asker,
    functionName: "runRuleTask" | "checkRuleConfig",
  ): Promise<Outcome> {
    callerGone.throwIfAborted();
    // A pool that is at its end would start a new thread.
    if (isStopped) throw stopping;
    const stop = new AbortController();
    const { signal } = stop;
    const hangUp = () => stop.abort(callerGone.reason);
    callerGone.addEventListener("abort", hangUp, { once: true });
    underWay.add(stop);
    try {
      const release = await slots.take(accountId, signal);
      const overdue = new EvaluationError("timeout", `No verdict within ${runTimeoutMs} ms.`);
      const deadline = setTimeout(() => stop.abort(overdue), runTimeoutMs);
      try {
        return await runByPool<Outcome>(task, signal, functionName);
      } finally {
        clearTimeout(deadline);
        release();
      }
    } finally {
      underWay.delete(stop);
      callerGone.removeEventListener("abort", hangUp);
    }
  }

  async function runByPool<Outcome>(
    task: ConfigCheckTask,
    signal: AbortSignal,
    name: string,
  ): Promise<Outcome> {
    signal.throwIfAborted();
    try {
      pool ??= openPool();
      return await (await pool).run(task, { signal, name });
    } catch (error) {
      throw signal.aborted ? signal.reason : crashed(error);
    }
  }

  return {
    async run(task, accountId, signal, allowance) {
      signal.throwIfAborted();
      const family = familiesByName.get(task.familyName);
      if (family !== undefined) refuseLongSample(family, task.sample);
      if (!isExpensive(task) && allowance.msInPlace > 0) return runHere(task, allowance);
      return verdictOf(await runInThread<RuleOutcome>(task, { accountId, signal }, "runRuleTask"));
    },
    check: (task, asker) => runInThread<string | undefined>(task, asker, "checkRuleConfig"),
    async dispose() {
      isStopped = true;
      for (const stop of underWay) stop.abort(stopping);
      await (await pool)?.destroy();
    },
  };
}
