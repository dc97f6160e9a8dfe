import { type Arbitrary, Random } from "fast-check";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/** Where all that is random comes from. The same seed and index give the same draws. */
export interface Draw {
  value<T>(arbitrary: Arbitrary<T>): T;
  /** From 0 to `count` - 1, all as likely. */
  below(count: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly [T, ...T[]] | readonly T[]): T;
}

/** One value in four is one of those that fast-check thinks likely to break something. */
const biasFactor = 4;

export function createDraw(seed: number, index: number): Draw {
  const random = new Random(xoroshiro128plus((seed ^ Math.imul(index + 1, 0x9e3779b1)) | 0));
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
