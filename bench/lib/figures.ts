import type { Figure } from "../predictions/predictions-report.ts";

/** For an even number of values, the mean of the middle two; for none, NaN. */
export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  const lower = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
};

export interface Goal {
  readonly text: string;
  readonly measured: string;
  /** Undefined if this run did not measure it. */
  readonly met: boolean | undefined;
}

export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map((_, column) => (column === 0 ? "---" : "---:")), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");

const verdict = (met: boolean | undefined): string => {
  if (met === undefined) return "not measured";
  return met ? "met" : "**missed**";
};

export const goalTable = (goals: readonly Goal[]): string =>
  table(
    ["goal", "measured", ""],
    goals.map(({ text, measured, met }) => [text, measured, verdict(met)]),
  );

export const none = "–";

const threeDigits = (value: number): string => {
  if (value >= 100) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(value >= 10 ? 1 : 2);
};

/** Three digits, with the range over the rounds if there are several. */
export const showFigure = (figure: Figure | undefined, scale = 1): string => {
  if (figure === undefined) return none;
  const middle = threeDigits(figure.median * scale);
  if (figure.least === figure.most) return middle;
  return `${middle} (${threeDigits(figure.least * scale)}–${threeDigits(figure.most * scale)})`;
};

export const showPercent = (share: number): string => `${(100 * share).toFixed(1)} %`;

export const showMegabytes = (bytes: number | undefined): string =>
  bytes === undefined ? none : (bytes / 1e6).toFixed(0);

/** One sentence for each measurement with a problem. */
export const findProblems = <Sample extends { readonly problem: string | undefined }>(
  samples: readonly Sample[],
  describe: (sample: Sample) => string,
): string[] =>
  samples.flatMap((sample) =>
    sample.problem === undefined ? [] : [`${describe(sample)}: ${sample.problem}`],
  );
