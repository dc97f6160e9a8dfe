import type { ExactnessResult } from "./run-exactness.ts";

export const writeExactness = (results: readonly ExactnessResult[]): string =>
  results.map((result) => `\n${writeLines(result).join("\n")}\n`).join("");

const writeLines = (result: ExactnessResult): string[] => {
  const { database, compared, disagreements } = result;
  const differing = result.by_command_line;
  return [
    `${database}: ${result.runs} runs and ${result.comparisons} comparisons of ${result.samples} samples: ${compared} values computed again, ${disagreements} differ.`,
    `Largest difference: ${result.largest_difference.toExponential(1)}`,
    `The command line's figures: ${differing.length} differ from the API's.`,
    ...[...result.first_disagreements, ...differing.slice(0, 20)].map((one) => `- ${one}`),
    ...(disagreements + differing.length > 0
      ? [`The files are in bench/.work/exactness-${database.toLowerCase()}.`]
      : []),
  ];
};
