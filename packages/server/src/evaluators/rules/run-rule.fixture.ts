import { z } from "zod";
import type { RuleFamily } from "../family.ts";
import { EvaluationError, type Sample, UnusableSampleError, type Verdict } from "../outcome.ts";
import { createRuleEvaluator } from "./run-rule.ts";

// A thread that runs families made to misbehave.

/** Counts up while it spins, so that a test sees whether it still does; in a cheap family, counts each run on the main thread. */
export interface SpinConfig {
  beats: Int32Array<SharedArrayBuffer>;
}

export const fixtureFamilies: readonly RuleFamily[] = [
  family("cheap", () => passing, false),
  family("expensive", () => passing),
  family("spin", (config) => {
    const { beats } = config as SpinConfig;
    for (;;) Atomics.add(beats, 0, 1);
  }),
  family("unusable", () => {
    throw new UnusableSampleError("No number in the gold answer.");
  }),
  family("failing", () => {
    throw new EvaluationError("overloaded", "Come back later.");
  }),
  family("crash", () => {
    throw new TypeError("secret of the sample");
  }),
  family(
    "cheap-crash",
    () => {
      throw new TypeError("secret of the sample");
    },
    false,
  ),
  family("nan", () => ({ ...passing, score: Number.NaN })),
  // A value that cannot leave the thread ends the thread.
  family("uncloneable", () => ({ ...passing, extra: { callback: () => 1 } })),
  family("busy", () => spend(500)),
  family(
    "cheap-busy",
    (config) => {
      const { beats } = config as SpinConfig;
      if (Bun.isMainThread) Atomics.add(beats, 0, 1);
      return spend(20);
    },
    false,
  ),
];

function spend(ms: number): Verdict {
  const end = performance.now() + ms;
  while (performance.now() < end);
  return passing;
}

const passing: Verdict = {
  pass: true,
  score: 0.75,
  positions: [[0, 2]],
  extra: { found: ["a"] },
  explain: () => "It passes.",
};

function family(
  name: string,
  evaluate: (config: unknown, sample: Sample) => Verdict,
  isExpensive = true,
): RuleFamily {
  return {
    kind: "rule",
    name,
    description: name,
    versions: ["2026-11-21"],
    needs: [],
    config: z.unknown(),
    builtInProfiles: [],
    estimateMs: () => (isExpensive ? 2 : 0),
    prepare: (config) => (sample) => evaluate(config, sample),
  };
}

export const runRuleTask = createRuleEvaluator(fixtureFamilies);
