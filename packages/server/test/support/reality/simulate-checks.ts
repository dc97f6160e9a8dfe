import { mersenne } from "pure-rand/generator/mersenne";
import type { CheckedEpisode } from "../../../src/reality/figures.ts";

/** Simulated checks of a world in which this share of simulated successes is false. */
export interface SimulatedWorld {
  seed: number;
  tasks: number;
  episodes: number;
  falseShare: number;
  /** Tasks fail equally often, or with varying frequency, or each as a whole. */
  tasksFail?: "alike" | "unlike" | "whole";
  /** Tasks are visited equally often, or a few of them most of the time. */
  visits?: "alike" | "unlike";
  policies?: number;
}

export function seeded(seed: number): () => number {
  const random = mersenne(seed);
  return () => (random.next() >>> 0) / 2 ** 32;
}

/** Episodes of 20 steps, drawn one after the other, so that tasks come up repeatedly. One in five fails in simulation. */
export function simulateChecks({
  seed,
  tasks,
  episodes,
  falseShare,
  tasksFail = "alike",
  visits = "alike",
  policies = 0,
}: SimulatedWorld): CheckedEpisode[] {
  const random = seeded(seed);
  const shares = Array.from({ length: tasks }, () => {
    if (tasksFail === "whole") return Number(random() < falseShare);
    return tasksFail === "alike" ? falseShare : 2 * falseShare * random();
  });
  return Array.from({ length: episodes }, (_, index): CheckedEpisode => {
    // Otherwise half of the episodes are of a fiftieth of the tasks.
    const task = Math.floor(tasks * (visits === "alike" ? random() : random() ** 5.6));
    const simulated = random() < 0.8;
    const real = simulated ? random() >= (shares[task] ?? 0) : random() < 0.1;
    const divergedAt = 1 + Math.floor(40 * random());
    return {
      ...{ task: `t${task}`, policy: policies === 0 ? null : `p${index % policies}`, simulated, real },
      ...{ episodeId: `e${index}`, position: index + 1, steps: 20 },
      ...{ simulatedReward: Number(simulated) + random(), realReward: Number(real) + random() },
      divergedAt: divergedAt <= 20 ? divergedAt : null,
      verbs: ["go", "take", "open", "look", "use"].filter(() => random() < 0.5),
    };
  });
}
