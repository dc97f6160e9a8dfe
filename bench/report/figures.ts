import { median } from "../median.ts";
import type { Sample } from "../predictions/sample.ts";
import type { TargetName } from "../targets/target.ts";

export type Measure = "requestsPerSecond" | "p50Us" | "p99Us" | "cpuUsPerRequest";

export interface Figure {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export interface Place {
  readonly connections: number;
  readonly delayMs: number;
}

/** The figures of one target in one row of the tables, by round. Failed rounds do not count. */
const readRounds = (
  samples: readonly Sample[],
  target: TargetName,
  { connections, delayMs }: Place,
  measure: Measure,
): Map<number, number> =>
  new Map(
    samples
      .filter((sample) => sample.target === target && sample.problem === undefined)
      .filter(({ scenario }) => scenario.connections === connections && scenario.delayMs === delayMs)
      .flatMap((sample) => {
        const value = sample[measure];
        return value === undefined ? [] : [[sample.round, value] as const];
      }),
  );

export const summarise = (values: readonly number[]): Figure | undefined =>
  values.length === 0
    ? undefined
    : { median: median(values), least: Math.min(...values), most: Math.max(...values) };

export const readFigure = (
  samples: readonly Sample[],
  target: TargetName,
  place: Place,
  measure: Measure,
): Figure | undefined => summarise([...readRounds(samples, target, place, measure).values()]);

/** Compares within each round, then takes the median, because a slow machine slows both sides. */
export const compareRounds = (
  samples: readonly Sample[],
  pair: { readonly target: TargetName; readonly with: TargetName },
  place: Place,
  measure: Measure,
  compare: (left: number, right: number) => number,
): Figure | undefined => {
  const right = readRounds(samples, pair.with, place, measure);
  const left = readRounds(samples, pair.target, place, measure);
  return summarise(
    [...left].flatMap(([round, value]) => {
      const other = right.get(round);
      return other === undefined ? [] : [compare(value, other)];
    }),
  );
};
