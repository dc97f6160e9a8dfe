/** A name and the number of samples in each trajectory. */
export interface Design {
  readonly name: string;
  readonly sizes: readonly number[];
}

/** Transitions by trajectory in two recorded data sets, from AppWorld and from ScienceWorld. */
const appWorldSizes = [3, 3, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5, 6, 7, 7, 8, 8, 9, 9, 10, 11, 17];
const scienceWorldSizes = [
  3, 3, 5, 6, 6, 7, 7, 11, 13, 13, 13, 14, 15, 15, 17, 17, 18, 18, 19, 19, 23, 23, 24, 39, 46,
];
export const recordedSizes = [...appWorldSizes, ...scienceWorldSizes];

const equal = (trajectories: number, size: number): Design => ({
  name: `${trajectories} trajectories of ${size}`,
  sizes: Array<number>(trajectories).fill(size),
});

export const fiftyEqual = equal(50, 20);
export const twentyEqual = equal(20, 10);
export const recorded: readonly Design[] = [
  { name: `AppWorld's ${appWorldSizes.length} trajectories`, sizes: appWorldSizes },
  { name: `ScienceWorld's ${scienceWorldSizes.length} trajectories`, sizes: scienceWorldSizes },
];
