import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { RunDraw } from "@presage/contract";

/** A trajectory of a revision, or the part of it that a pilot predicts. */
export interface TrajectoryLength {
  trajectoryId: string;
  samples: number;
}

/** Some milliseconds of the main thread. */
const trajectoriesAtOnce = 5_000;

/**
 * The trajectories that a pilot predicts, and how many of their steps, from the first: whole ones, by the hash of the seed and their id,
 * until there are enough samples; of the last one as many steps as are still wanted. The same revision and seed draw the same.
 */
export async function drawTrajectories(
  lengths: Iterable<TrajectoryLength> | AsyncIterable<TrajectoryLength>,
  { samples, seed }: Pick<RunDraw, "samples" | "seed">,
): Promise<Map<string, number>> {
  let drawn: (TrajectoryLength & { place: string })[] = [];
  let seen = 0;
  const cut = () => {
    let left = samples;
    drawn = drawn
      .sort((a, b) => (a.place < b.place ? -1 : 1))
      .filter((one) => {
        const isWanted = left > 0;
        left -= one.samples;
        return isWanted;
      });
  };
  for await (const length of lengths) {
    const place = createHash("sha256").update(`${seed} ${length.trajectoryId}`).digest("hex");
    drawn.push({ ...length, place });
    seen += 1;
    if (seen % trajectoriesAtOnce !== 0) continue;
    cut();
    await nextTurn();
  }
  cut();
  let left = samples;
  return new Map(
    drawn.map(({ trajectoryId, samples: own }) => {
      const taken = Math.min(own, left);
      left -= taken;
      return [trajectoryId, taken];
    }),
  );
}
