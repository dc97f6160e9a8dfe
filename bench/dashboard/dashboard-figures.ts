import { type Figure, summarise } from "../report/figures.ts";
import type { DashboardRound } from "./measure-dashboard.ts";
import { referenceMs } from "./measure-navigation.ts";

export type BrowserState = "cold" | "warm";

export interface TimeAndRatio {
  readonly timeMs: Figure | undefined;
  /** Ratio to the reference in the same state and round. */
  readonly ratio: Figure | undefined;
}

/** A time in each round, and its ratio to the reference in that round. */
export const compareToReference = (
  rounds: readonly DashboardRound[],
  state: BrowserState,
  readMs: (round: DashboardRound) => number,
): TimeAndRatio => ({
  timeMs: summarise(rounds.map(readMs)),
  ratio: summarise(rounds.map((round) => readMs(round) / referenceMs(round.navigation[state]))),
});

export const readView =
  (name: string, state: BrowserState) =>
  ({ navigation }: DashboardRound): number =>
    navigation[state].get(name) ?? Number.NaN;
