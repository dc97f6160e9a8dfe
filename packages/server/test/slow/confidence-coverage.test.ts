import { expect, test } from "bun:test";
import { mersenne } from "pure-rand/generator/mersenne";
import type { JudgedConfidences } from "../../src/platform/statistics/calibration-error.ts";
import { confidenceCard } from "../../src/platform/statistics/confidence.ts";

/**
 * How often the intervals contain the figure of a million predictions of the same kind. `npm run test:all` makes a few sets, with bounds as
 * wide as chance needs; `PRESAGE_TEST_CONFIDENCE_SETS=1000` makes as many as the bounds in the docs are from, and prints the shares.
 */
const sets = Number(process.env.PRESAGE_TEST_CONFIDENCE_SETS ?? 40);
const names = ["brier", "ece", "auroc"] as const;

/** Confidences of trajectories of varying difficulty; `lift` is by how much their logits are too high. */
interface Kind {
  name: string;
  trajectories: number;
  unlike: number;
  lift: number;
}
const kinds: Kind[] = [
  { name: "too confident, trajectories alike", trajectories: 100, unlike: 0, lift: 0.8 },
  { name: "too confident, trajectories unlike", trajectories: 100, unlike: 0.7, lift: 0.8 },
  // The true calibration error is 0 there, which a measured one never is.
  { name: "well calibrated", trajectories: 100, unlike: 0, lift: 0 },
  { name: "far too confident, 40 trajectories", trajectories: 40, unlike: 0.5, lift: 1.5 },
];

for (const kind of kinds) {
  test(`intervals of confidences cover: ${kind.name}`, async () => {
    const truth = await confidenceFigures({ ...kind, trajectories: 20_000 }, 99);
    const covered: Record<string, number> = {};
    for (let set = 0; set < sets; set++) {
      const figures = await confidenceFigures(kind, 1_000 + set);
      for (const name of names) {
        const value = truth[name].value ?? Number.NaN;
        const { lower = 0, upper = 0 } = figures[name].interval ?? {};
        covered[name] = (covered[name] ?? 0) + (lower <= value && value <= upper ? 1 : 0);
      }
    }
    const shares = names.map((name) => (covered[name] ?? 0) / sets);
    if (sets >= 1_000) process.stdout.write(`${kind.name}: ${names.join(", ")} ${shares.join(", ")}\n`);
    // With few sets, the bounds of 93 and 97 % are widened by four standard errors of a share of 95 %.
    const chance = sets >= 1_000 ? 0 : 4 * Math.sqrt((0.95 * 0.05) / sets);
    for (const [at, share] of shares.entries()) {
      if (kind.lift === 0 && names[at] === "ece") continue;
      expect(share).toBeGreaterThanOrEqual(0.93 - chance);
      expect(share).toBeLessThanOrEqual(Math.min(1, 0.97 + chance));
    }
  });
}

async function confidenceFigures(kind: Kind, seed: number) {
  return await confidenceCard(simulate(kind, seed));
}

function simulate({ trajectories, unlike, lift }: Kind, seed: number): JudgedConfidences {
  const random = mersenne(seed);
  const uniform = () => ((random.next() >>> 0) + 0.5) / 2 ** 32;
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  const sigmoid = (linear: number) => 1 / (1 + Math.exp(-linear));
  const [confidences, right, of]: [number[], number[], number[]] = [[], [], []];
  for (let trajectory = 0; trajectory < trajectories; trajectory++) {
    const ease = unlike * normal();
    const length = 4 + Math.floor(12 * uniform());
    for (let step = 0; step < length; step++) {
      const linear = 0.3 + 1.2 * normal();
      confidences.push(sigmoid(linear + lift));
      right.push(uniform() < sigmoid(linear + ease) ? 1 : 0);
      of.push(trajectory);
    }
  }
  return {
    confidences: Float64Array.from(confidences),
    right: Uint8Array.from(right),
    trajectories: Int32Array.from(of),
  };
}
