/** One sentence for each measurement with a problem. */
export const findProblems = <Sample extends { readonly problem: string | undefined }>(
  samples: readonly Sample[],
  describe: (sample: Sample) => string,
): string[] =>
  samples.flatMap((sample) =>
    sample.problem === undefined ? [] : [`${describe(sample)}: ${sample.problem}`],
  );
