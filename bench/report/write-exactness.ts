import type { ExactnessResult } from "../runs/exactness/run-exactness.ts";

export const writeExactness = (result: ExactnessResult): string => {
  const { compared, disagreements, statsmodels } = result;
  const lines = [
    `${result.runs} runs and ${result.comparisons} comparisons of ${result.samples} samples: ${compared} values computed again, ${disagreements} differ.`,
    `Largest difference: ${result.largest_difference.toExponential(1)}`,
    statsmodels === null
      ? "statsmodels is not installed; its CR1 was not compared."
      : `${statsmodels} standard errors compared with statsmodels' CR1.`,
    ...result.first_disagreements.map((one) => `- ${one}`),
    ...(disagreements > 0 ? ["The files are in bench/.work/exactness."] : []),
  ];
  return `\n${lines.join("\n")}\n`;
};
