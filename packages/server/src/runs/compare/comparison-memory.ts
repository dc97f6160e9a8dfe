import type { Run } from "../run.ts";

const bytesPerSample = 200;
const bytesPerSampleOfRun = 80;
const bytesPerRepeat = 2;
const bytesOfComparison = 4_000_000;

/** The memory that a comparison takes while it is made, beside that of external runs. */
export function comparisonMemoryBytes(runs: readonly Pick<Run, "counts" | "repeats">[]): number {
  return runs.reduce((sum, { counts, repeats }, index) => {
    const perSample = bytesPerSampleOfRun + (index === 0 ? bytesPerSample : 0);
    return sum + (counts.samples / repeats) * perSample + counts.samples * bytesPerRepeat;
  }, bytesOfComparison);
}
