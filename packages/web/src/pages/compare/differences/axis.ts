import type { Comparison } from "@presage/sdk";

export interface Axis {
  lower: number;
  upper: number;
  /** Round values between the ends, zero among them. */
  ticks: number[];
}

const steps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];
const mostSteps = 6;

/** One axis for all differences, with zero on it, so that they can be compared by eye. */
export function axisOf(ranges: readonly { lower: number; upper: number }[]): Axis {
  const lowest = Math.min(0, ...ranges.map(({ lower }) => lower));
  const highest = Math.max(0, ...ranges.map(({ upper }) => upper));
  const span = Math.max(highest - lowest, 0.005);
  const step = steps.find((one) => span / one <= mostSteps) ?? 1;
  const first = Math.floor(lowest / step);
  const last = Math.max(Math.ceil(highest / step), first + 1);
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
  return { lower: first * step, upper: last * step, ticks };
}

/** The ranges of all differences; a difference without an interval is a range of its own. */
export function rangesOf(evaluators: Comparison["evaluators"]): { lower: number; upper: number }[] {
  return evaluators.flatMap(({ candidates }) =>
    candidates.flatMap(({ difference, interval }) => {
      if (difference === null) return [];
      return [interval ?? { lower: difference, upper: difference }];
    }),
  );
}
