import type { Task } from "../../environments/environment.ts";
import { withGoal } from "../../environments/episodes/turns.ts";
import { orAborted, withDeadline } from "../../platform/limits/deadline.ts";
import { createFairSlots } from "../../platform/limits/turns.ts";
import { nowMicros, toStorableText } from "../../platform/storage/columns.ts";
import { openHttp, openOpenEnv, openOrs } from "./protocols.ts";
import {
  type Exchange,
  isAtLeast,
  type OpenExchange,
  type RealEnvironment,
  RealEnvironmentError,
  type RealEnvironmentSettings,
  type RealEnvironments,
  type RealProtocol,
  type RealSession,
  type RealStep,
  UnplayableError,
} from "./real-environment.ts";

/** Whether a part of a text matches a pattern, in linear time. */
type Matches = (pattern: string, text: string) => Promise<boolean>;

const clients: Record<RealProtocol, OpenExchange> = { openenv: openOpenEnv, ors: openOrs, http: openHttp };
/** How long closing an episode may take. */
const closeTimeoutMs = 5_000;

export function createRealEnvironments(
  settings: readonly RealEnvironmentSettings[],
  matches: Matches,
): RealEnvironments {
  let known = new Map<string, { settings: RealEnvironmentSettings; environment: RealEnvironment }>();

  function replace(next: readonly RealEnvironmentSettings[]): void {
    known = new Map(
      next.map((settings) => {
        const before = known.get(settings.name);
        const isSame = before !== undefined && Bun.deepEquals(before.settings, settings);
        return [settings.name, isSame ? before : { settings, environment: createOne(settings, matches) }];
      }),
    );
  }

  replace(settings);
  return {
    find: (name) => known.get(name)?.environment,
    all: () => [...known.values()].map(({ environment }) => environment),
    replace,
  };
}

function createOne(settings: RealEnvironmentSettings, matches: Matches): RealEnvironment {
  const { name, protocol, maxInFlight, timeoutMs } = settings;
  const slots = createFairSlots({ slots: maxInFlight });
  let last: ReturnType<RealEnvironment["lastFailure"]>;

  /** Runs a request to the other side, which has `timeoutMs` to answer. */
  async function attempt<Value>(outer: AbortSignal, work: (signal: AbortSignal) => Promise<Value>) {
    const timeoutError = () =>
      new RealEnvironmentError("timeout", `The real environment did not answer within ${timeoutMs} ms.`);
    try {
      return await withDeadline({ timeoutMs, timeoutError, signal: outer }, (signal) =>
        orAborted(work(signal), signal),
      );
    } catch (error) {
      if (error instanceof RealEnvironmentError && !(error instanceof UnplayableError))
        last = { at: nowMicros(), category: error.category, message: error.message };
      throw error;
    }
  }

  return {
    name,
    protocol,
    maxInFlight,
    inFlight: slots.inUse,
    lastFailure: () => last,
    async open(task, signal) {
      const release = await slots.take("", signal);
      let opening: Promise<Exchange> | undefined;
      try {
        const exchange = await attempt(signal, (limited) => {
          opening = clients[protocol](settings, task, limited);
          return opening;
        });
        const step: Exchange["step"] = (action, signal) =>
          attempt(signal, (limited) => exchange.step(action, limited));
        return toSession({ ...exchange, step }, Math.min(timeoutMs, closeTimeoutMs), release);
      } catch (error) {
        release();
        // The session may still open after it was given up.
        opening?.then((late) => late.close(AbortSignal.timeout(closeTimeoutMs))).catch(() => {});
        throw error;
      }
    },
    succeeded: (task, steps) => succeeded(settings, task, steps, matches),
  };
}

function toSession(exchange: Exchange, timeoutMs: number, release: () => void): RealSession {
  let isOver = false;
  let closing: Promise<void> | undefined;
  return {
    first: toStorableText(exchange.first),
    async step(action, signal) {
      if (isOver)
        throw new RealEnvironmentError("unavailable", "The episode in the real environment is over.");
      const startedMs = performance.now();
      try {
        const step = await exchange.step(action, signal);
        isOver = step.done;
        const latencyMs = performance.now() - startedMs;
        return { ...step, observation: toStorableText(step.observation), latencyMs };
      } catch (error) {
        // A late answer could not be matched to its action.
        isOver = true;
        throw error;
      }
    },
    close() {
      isOver = true;
      const signal = AbortSignal.timeout(timeoutMs);
      closing ??= orAborted(exchange.close(signal), signal)
        .catch(() => {})
        .finally(release);
      return closing;
    },
  };
}

async function succeeded(
  { success }: RealEnvironmentSettings,
  { goal }: Task,
  steps: readonly RealStep[],
  matches: Matches,
): Promise<boolean> {
  if ("reward_at_least" in success) {
    const sum = steps.reduce((total, { reward }) => total + (reward ?? 0), 0);
    return isAtLeast(sum, success.reward_at_least);
  }
  if ("done_reward_at_least" in success) {
    const last = steps.find(({ done }) => done)?.reward ?? Number.NEGATIVE_INFINITY;
    return isAtLeast(last, success.done_reward_at_least);
  }
  if ("output_contains" in success)
    return withGoal(success.output_contains, goal, (text) =>
      steps.some(({ observation }) => observation.includes(text)),
    );
  for (const { observation } of steps) if (await matches(success.output_matches, observation)) return true;
  return false;
}
