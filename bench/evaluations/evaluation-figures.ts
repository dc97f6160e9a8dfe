import { type Figure, summarise } from "../report/figures.ts";
import type { AccountsSample, Crowd } from "./beside/measure-accounts.ts";
import type { ThroughputSample } from "./throughput/measure-throughput.ts";

export const atConnections = (
  samples: readonly ThroughputSample[],
  connections: number,
): readonly ThroughputSample[] => samples.filter((sample) => sample.connections === connections);

/** The ratio to the bare loop's results a second, within each round. Failed rounds do not count. */
export const shareOfBareLoop = (
  samples: readonly ThroughputSample[],
  bare: "barePerSecond" | "barePerSecondAlike" = "barePerSecond",
): Figure | undefined =>
  summarise(
    samples
      .filter(({ problem }) => problem === undefined)
      .map((sample) => sample.requestsPerSecond / sample[bare]),
  );

/** The p99 of small evaluations beside another account's crowd, as a ratio to that beside nothing, within each round. */
export const besideCrowd = (samples: readonly AccountsSample[], crowd: Crowd): Figure | undefined => {
  const counted = samples.filter(({ problem }) => problem === undefined);
  const idle = new Map(
    counted.filter((one) => one.crowd === "nothing").map(({ round, p99Us }) => [round, p99Us]),
  );
  return summarise(
    counted
      .filter((one) => one.crowd === crowd)
      .flatMap(({ round, p99Us }) => {
        const idleUs = idle.get(round);
        return idleUs === undefined ? [] : [p99Us / idleUs];
      }),
  );
};
