import { availableParallelism } from "node:os";
import type { ExplainStrategy } from "@presage/contract";
import type { Tinypool } from "tinypool";
import { createRuleEvaluator, type RuleTask, type TimedVerdict } from "./evaluate-by-rule.ts";
import { EvaluationFailure, type RuleFamily } from "./evaluators/family.ts";
import { refuseLongSample } from "./refuse-long-sample.ts";
import { crashed, type RuleOutcome, settleRule, verdictOf } from "./rule-outcome.ts";
import { charactersOf, type Sample } from "./sample.ts";
import { createSlots } from "./slots.ts";

export interface RuleRunner {
  /**
   * Evaluates a sample here if that is quick, else in a thread.
   * @throws UnusableSampleError; EvaluationFailure `timeout`, `overloaded`, `internal_error` (its cause says why); the
   * signal's reason, after it was aborted.
   */
  run(
    familyName: string,
    config: unknown,
    sample: Sample,
    signal: AbortSignal,
    explainStrategy: ExplainStrategy,
  ): Promise<TimedVerdict>;
  /** Ends the threads, and what runs in them. */
  dispose(): Promise<void>;
}

export interface RuleRunnerOptions {
  families: readonly RuleFamily<unknown>[];
  /** The module of the threads, which has a `runRuleTask`. */
  threadModule: URL;
  maxThreads: number;
  /** A thread without work ends after this long. */
  idleThreadMs: number;
  /** How many evaluations may wait for a thread, and how long each. */
  maxWaiting: number;
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
  maxWaiting: 64,
  maxWaitMs: 60_000,
  runTimeoutMs: 10_000,
  maxCharactersInPlace: 100_000,
} satisfies Omit<RuleRunnerOptions, "families">;

/** The longest that a heavy evaluation takes, from when it begins to wait for a thread. */
export const slowestRuleMs = ruleRunnerDefaults.maxWaitMs + ruleRunnerDefaults.runTimeoutMs;

export function createRuleRunner(options: RuleRunnerOptions): RuleRunner {
  const { maxThreads, maxWaiting, maxWaitMs, runTimeoutMs } = options;
  const familiesByName = new Map(options.families.map((family) => [family.name, family]));
  const evaluateHere = createRuleEvaluator(options.families);
  const slots = createSlots({ slots: maxThreads, maxWaiting, maxWaitMs });
  const underWay = new Set<AbortController>();
  const stopping = new EvaluationFailure("overloaded", "The server stops.");
  let isStopped = false;
  let pool: Promise<Tinypool> | undefined;

  // Most servers never meet a heavy sample, and the library takes 8 MB.
  async function openPool(): Promise<Tinypool> {
    const { Tinypool } = await import("tinypool");
    const opened = new Tinypool({
      filename: options.threadModule.href,
      name: "runRuleTask",
      runtime: "worker_threads",
      minThreads: 0,
      maxThreads,
      idleTimeout: options.idleThreadMs,
    });
    // A thread that dies without a task harms nobody; unheard, the event would end the process.
    opened.on("error", () => {});
    return opened;
  }

  function isHeavy({ familyName, config, sample }: RuleTask): boolean {
    if (charactersOf(sample) > options.maxCharactersInPlace) return true;
    return familiesByName.get(familyName)?.isHeavy?.(sample, config) ?? false;
  }

  async function runInThread(task: RuleTask, callerGone: AbortSignal): Promise<TimedVerdict> {
    // A pool that is at its end would start a new thread.
    if (isStopped) throw stopping;
    const stop = new AbortController();
    const { signal } = stop;
    const hangUp = () => stop.abort(callerGone.reason);
    callerGone.addEventListener("abort", hangUp, { once: true });
    underWay.add(stop);
    try {
      const release = await slots.take(signal);
      const overdue = new EvaluationFailure("timeout", `No verdict within ${runTimeoutMs} ms.`);
      const deadline = setTimeout(() => stop.abort(overdue), runTimeoutMs);
      try {
        return verdictOf(await runByPool(task, signal));
      } finally {
        clearTimeout(deadline);
        release();
      }
    } finally {
      underWay.delete(stop);
      callerGone.removeEventListener("abort", hangUp);
    }
  }

  async function runByPool(task: RuleTask, signal: AbortSignal): Promise<RuleOutcome> {
    signal.throwIfAborted();
    try {
      pool ??= openPool();
      return await (await pool).run(task, { signal });
    } catch (error) {
      throw signal.aborted ? signal.reason : crashed(error);
    }
  }

  return {
    async run(familyName, config, sample, signal, explainStrategy) {
      signal.throwIfAborted();
      const family = familiesByName.get(familyName);
      if (family !== undefined) refuseLongSample(family, sample);
      const task = { familyName, config, sample, explainStrategy };
      return isHeavy(task)
        ? await runInThread(task, signal)
        : verdictOf(settleRule(() => evaluateHere(task)));
    },
    async dispose() {
      isStopped = true;
      for (const stop of underWay) stop.abort(stopping);
      await (await pool)?.destroy();
    },
  };
}
