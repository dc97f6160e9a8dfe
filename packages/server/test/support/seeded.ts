import { randomInt } from "node:crypto";
import { createDraw, type Draw } from "../../../../fuzz/generate/draw.ts";

/** The seed of every random test. A failure prints it; set in the environment, it repeats the run. */
export const seed = Number(process.env.PRESAGE_TEST_FUZZ_SEED ?? randomInt(2 ** 31));

/** A test with random input, which prints the seed if it fails. */
export function seeded<Rest extends unknown[]>(test: (draw: Draw, ...rest: Rest) => unknown) {
  return async (...rest: Rest): Promise<void> => {
    try {
      await test(createDraw(seed, 0), ...rest);
    } catch (error) {
      process.stderr.write(`To repeat: PRESAGE_TEST_FUZZ_SEED=${seed}\n`);
      throw error;
    }
  };
}
