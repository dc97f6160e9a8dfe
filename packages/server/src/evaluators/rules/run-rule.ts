import { availableParallelism } from "node:os";
import type { ExplainStrategy } from "@presage/contract";
import { LRUCache } from "lru-cache";
import type { Tinypool } from "tinypool";
import { withDeadline } from "../../platform/limits/deadline.ts";
import { createFairSlots, type QueueLimits } from "../../platform/limits/turns.ts";
import type { Requester } from "../../platform/storage/store.ts";
import type { RuleFamily } from "../family.ts";
import {
  charactersOf,
  EvaluationError,
  type EvaluatorOutcome,
  internalError,
  isExplained,
  outcomeOfError,
  type Sample,
  timeoutError,
  unusable,
  type Verdict,
} from "../outcome.ts";

/** What an evaluation by rule needs; all of it can cross to another thread. */
export interface RuleTask {
  familyName: string;
  /** As returned by the family's schema. */
  config: unknown;
  sample: Sample;
  explainStrategy: ExplainStrategy;
}

const maxPreparedConfigs = 500;
const maxPreparedCharacters = 4_000_000;

/** Evaluates in the calling thread. A config is prepared once and cached. */
export function createRuleEvaluator(families: readonly RuleFamily[]) {
  const familiesByName = new Map(families.map((family) => [family.name, family]));
  const prepared = new LRUCache<string, (sample: Sample) => Verdict>({
    max: maxPreparedConfigs,
    maxSize: maxPreparedCharacters,
    sizeCalculation: (_, key) => key.length,
  });

  function prepare(familyName: string, config: unknown): (sample: Sample) => Verdict {
    // The schema returns a config's fields in a fixed order, so equal configs have equal texts.
    const key = `${familyName} ${JSON.stringify(config)}`;
    const known = prepared.get(key);
    if (known !== undefined) return known;
    const family = familiesByName.get(familyName);
    if (family === undefined) throw new Error(`There is no family ${familyName}`);
    const evaluate = family.prepare(config);
    prepared.set(key, evaluate);
    return evaluate;
  }

  function evaluate({ familyName, config, sample, explainStrategy }: RuleTask): EvaluatorOutcome {
    const startedAtMs = performance.now();
    const { explain, ...verdict } = prepare(familyName, config)(sample);
    const evaluatedAtMs = performance.now();
    const evaluationMicros = toMicros(evaluatedAtMs - startedAtMs);
    const outcome = { status: "success" as const, ...verdict, evaluationMicros };
    if (!isExplained(explainStrategy, verdict.pass)) return outcome;
    const explanation = explain();
    return { ...outcome, explanation, explanationMicros: toMicros(performance.now() - evaluatedAtMs) };
  }

  /** @throws Error in place of one that the family did not throw on purpose, without any text of the sample. */
  return (task: RuleTask): EvaluatorOutcome => {
    let outcome: EvaluatorOutcome | undefined;
    try {
      outcome = evaluate(task);
    } catch (error) {
      outcome = outcomeOfError(error);
      if (outcome === undefined) throw new Error(traceOf(error));
    }
    const { status, score = Number.NaN } = outcome;
    if (status === "success" && !(score >= 0 && score <= 1)) {
      throw new Error(`${task.familyName} gave the score ${score}`);
    }
    return outcome;
  };
}

/** Where an error happened. Its message is left out: it may quote the sample, which does not belong in a log. */
function traceOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  return [error.name, ...frames].join("\n");
}

function toMicros(ms: number): number {
  return Math.round(ms * 1000);
}

/** A config that has passed its family's schema; it can cross to another thread. */
export interface ConfigCheckTask {
  familyName: string;
  config: unknown;
}

/** How much longer a request may block the main thread. Time spent there is subtracted. */
export interface MainThreadAllowance {
  mainThreadMs: number;
}

export interface RuleRunnerOptions {
  families: readonly RuleFamily[];
  /** The module of the threads; it exports `runRuleTask` and `checkRuleConfig`. */
  threadModule: URL;
  maxThreads: number;
  /** An idle thread ends after this long. */
  idleThreadMs: number;
  /** How many evaluations of one account may wait for a thread, and for how long. */
  maxWaitingEach: number;
  maxWaitMs: number;
  /** Deadline of one evaluation in a thread, from when the thread takes it. */
  runTimeoutMs: number;
  /** Samples with more text than this run in a thread, whatever their family says. */
  maxMainThreadCharacters: number;
}

export const ruleRunnerDefaults = {
  threadModule: new URL("./rule-thread.ts", import.meta.url),
  maxThreads: Math.max(1, availableParallelism() - 1),
  idleThreadMs: 30_000,
  maxWaitingEach: 256,
  maxWaitMs: 60_000,
  runTimeoutMs: 10_000,
  maxMainThreadCharacters: 100_000,
} satisfies Omit<RuleRunnerOptions, "families">;

export type RuleRunner = ReturnType<typeof createRuleRunner>;

export function createRuleRunner(options: RuleRunnerOptions) {
  const { maxThreads, maxWaitingEach, maxWaitMs, runTimeoutMs } = options;
  const familiesByName = new Map(options.families.map((family) => [family.name, family]));
  const evaluateHere = createRuleEvaluator(options.families);
  // Not the pool's own queue, which is first come, first served, so that one account could keep all others waiting.
  const refuse: QueueLimits["refuse"] = (why) =>
    why === "queue full"
      ? overloaded("Too many expensive evaluations of this account are waiting.")
      : overloaded(`No thread was free within ${maxWaitMs} ms.`);
  const slots = createFairSlots({ slots: maxThreads, queue: { maxWaitingEach, maxWaitMs, refuse } });
  const stop = new AbortController();
  const pool = createPool(options);

  function estimateMs({ familyName, config, sample }: RuleTask): number {
    return familiesByName.get(familyName)?.estimateMs?.(sample, config) ?? 0;
  }

  /** Most evaluations take microseconds, but twenty that are just short of expensive would block everyone. */
  function runHere(task: RuleTask, allowance: MainThreadAllowance): EvaluatorOutcome {
    const startedAtMs = performance.now();
    try {
      return evaluateHere(task);
    } catch (error) {
      throw internalError(error);
    } finally {
      allowance.mainThreadMs -= performance.now() - startedAtMs;
    }
  }

  async function runInThread<Result>(
    task: ConfigCheckTask,
    { accountId, signal: clientSignal }: Requester,
    functionName: "runRuleTask" | "checkRuleConfig",
    estimatedMs = 1,
  ): Promise<Result> {
    const signal = AbortSignal.any([clientSignal, stop.signal]);
    const release = await slots.take(accountId, signal, Math.max(1, estimatedMs));
    try {
      return await withDeadline({ timeoutMs: runTimeoutMs, timeoutError, signal }, (inTime) =>
        pool.run<Result>(task, inTime, functionName),
      );
    } finally {
      release();
    }
  }

  return {
    /**
     * Evaluates a sample on the main thread if that is quick and the request has time left for it, otherwise in a thread of the pool.
     * Accounts take turns for the threads, and samples that take far less time than others of their account come first.
     * @throws EvaluationError `timeout`, `overloaded`, `internal_error` (see its cause); the signal's reason once it is aborted.
     */
    async run(
      task: RuleTask,
      accountId: string,
      signal: AbortSignal,
      allowance: MainThreadAllowance,
    ): Promise<EvaluatorOutcome> {
      signal.throwIfAborted();
      const tooLong = describeExcess(familiesByName.get(task.familyName), task);
      if (tooLong !== undefined) return unusable("unusable_input", tooLong);
      const estimatedMs = estimateMs(task);
      const isQuick = estimatedMs <= 1 && charactersOf(task.sample) <= options.maxMainThreadCharacters;
      if (isQuick && allowance.mainThreadMs > 0) return runHere(task, allowance);
      return await runInThread(task, { accountId, signal }, "runRuleTask", estimatedMs);
    },
    /**
     * Does the expensive part of a config's check in a thread and says what is wrong with the config.
     * @throws EvaluationError `timeout`, `overloaded`, `internal_error`.
     */
    check: (task: ConfigCheckTask, requester: Requester): Promise<string | undefined> =>
      runInThread<string | undefined>(task, requester, "checkRuleConfig"),
    /** Ends the threads, and what runs in them. */
    async dispose(): Promise<void> {
      stop.abort(overloaded("The server is shutting down."));
      await pool.destroy();
    },
  };
}

/** Most servers never see an expensive sample, and the library takes 8 MB. */
async function openPool({ threadModule, maxThreads, idleThreadMs: idleTimeout }: RuleRunnerOptions) {
  const { Tinypool } = await import("tinypool");
  const filename = threadModule.href;
  const pool = new Tinypool({ filename, runtime: "worker_threads", minThreads: 0, maxThreads, idleTimeout });
  // A thread that dies while idle does no harm, but an error event without a listener would end the process.
  pool.on("error", () => {});
  return pool;
}

/** The threads, which start with the first task. */
function createPool(options: RuleRunnerOptions) {
  let pool: Promise<Tinypool> | undefined;
  let isDestroyed = false;
  return {
    async run<Result>(task: ConfigCheckTask, signal: AbortSignal, name: string): Promise<Result> {
      for (;;) {
        signal.throwIfAborted();
        try {
          pool ??= openPool(options).catch((error: unknown) => {
            pool = undefined;
            throw error;
          });
          return await (await pool).run(task, { signal, name });
        } catch (error) {
          if (signal.aborted) throw signal.reason;
          // The pool may give a task to a thread that is being ended for another client.
          const isEnding = error instanceof Error && error.message === "Terminating worker thread";
          if (isDestroyed || !isEnding) throw internalError(error);
        }
      }
    },
    async destroy() {
      isDestroyed = true;
      await (await pool)?.destroy();
    },
  };
}

/** Says how much longer the sample is than its family accepts, if it is. */
function describeExcess(family: RuleFamily | undefined, { sample }: RuleTask): string | undefined {
  if (family?.maxCharacters === undefined) return undefined;
  const characters = charactersOf(sample, family.needs);
  if (characters <= family.maxCharacters) return undefined;
  return `${family.name} accepts at most ${family.maxCharacters} characters of text in all; this sample has ${characters}.`;
}

function overloaded(message: string): EvaluationError {
  return new EvaluationError("overloaded", message);
}
