import { type Figure, summarise } from "../report/figures.ts";
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
