import { type Figure, summarise } from "../../report/figures.ts";
import type { ProcessesResult, ProcessesSample } from "./measure-processes.ts";

const countedOf = ({ samples }: ProcessesResult, processes: number, databases: number): ProcessesSample[] =>
  samples.filter(
    (sample) =>
      sample.processes === processes && sample.databases === databases && sample.problem === undefined,
  );

/** The rounds with this number of processes. Failed rounds do not count. */
export const figureOf = (
  result: ProcessesResult,
  processes: number,
  read: (sample: ProcessesSample) => number,
  databases = 1,
): Figure | undefined => summarise(countedOf(result, processes, databases).map(read));

/** Presage's processor time a request as a ratio to that with fewer processes, within each round. */
export const cpuRatio = (
  result: ProcessesResult,
  processes: number,
  fewer: number,
  databases = 1,
): Figure | undefined => {
  const others = new Map(countedOf(result, fewer, 1).map((sample) => [sample.round, sample.cpuUsPerRequest]));
  return summarise(
    countedOf(result, processes, databases).flatMap(({ round, cpuUsPerRequest }) => {
      const other = others.get(round);
      return other === undefined ? [] : [cpuUsPerRequest / other];
    }),
  );
};
