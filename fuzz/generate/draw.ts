import { type Arbitrary, Random } from "fast-check";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/** The source of all randomness. The same seed and index give the same draws. */
export interface Draw {
  value<T>(arbitrary: Arbitrary<T>): T;
  /** Uniform from 0 to `count` - 1. */
  below(count: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly [T, ...T[]] | readonly T[]): T;
}

/** One value in four is one that fast-check considers likely to break something. */
const biasFactor = 4;

const warmUp = 16;

export function createDraw(seed: number, index: number): Draw {
  const random = new Random(xoroshiro128plus(mixed(seed, index)));
  // The first numbers of neighbouring seeds are similar.
  for (let left = warmUp; left > 0; left -= 1) random.nextInt();
  const draw: Draw = {
    value: (arbitrary) => arbitrary.generate(random, biasFactor).value,
    below: (count) => random.nextInt(0, count - 1),
    chance: (probability) => random.nextDouble() < probability,
    pick(items) {
      if (items.length === 0) throw new Error("There is nothing to pick from.");
      return items[draw.below(items.length)] as (typeof items)[number];
    },
  };
  return draw;
}

/** MurmurHash3's finalizer: each bit of either number changes half of the result's bits. */
function mixed(seed: number, index: number): number {
  let hash = Math.imul(seed ^ Math.imul(index + 1, 0x9e3779b1), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) | 0;
}
