/** For an even number of values, the mean of the middle two; for none, NaN. */
export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  const lower = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
};

/** A figure of several rounds. */
export interface Figure {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** Reads a figure of one measurement; undefined if it has none. */
export type Read<Sample> = (sample: Sample) => number | undefined;

export const summarise = (values: readonly number[]): Figure | undefined =>
  values.length === 0
    ? undefined
    : { median: median(values), least: Math.min(...values), most: Math.max(...values) };

export const figureOf = <Sample>(samples: readonly Sample[], read: Read<Sample>): Figure | undefined =>
  summarise(samples.flatMap((sample) => read(sample) ?? []));

/** Compares within each round, then takes the median, because a slow machine slows both sides. */
export const compareRounds = <Sample extends { readonly round: number }>(
  samples: readonly Sample[],
  others: readonly Sample[],
  read: Read<Sample>,
  compare: (own: number, other: number) => number = (own, other) => own / other,
): Figure | undefined => {
  const otherOf = new Map(others.map((other) => [other.round, read(other)]));
  return figureOf(samples, (sample) => {
    const [own, other] = [read(sample), otherOf.get(sample.round)];
    return own === undefined || other === undefined ? undefined : compare(own, other);
  });
};

/** Failed measurements do not count. */
export const withoutProblems = <Sample extends { readonly problem: string | undefined }>(
  samples: readonly Sample[],
): Sample[] => samples.filter(({ problem }) => problem === undefined);

/** One sentence for each measurement with a problem. */
export const findProblems = <Sample extends { readonly problem: string | undefined }>(
  samples: readonly Sample[],
  describe: (sample: Sample) => string,
): string[] =>
  samples.flatMap((sample) =>
    sample.problem === undefined ? [] : [`${describe(sample)}: ${sample.problem}`],
  );

export interface Goal {
  readonly text: string;
  readonly measured: string;
  /** Undefined if this run did not measure it. */
  readonly met: boolean | undefined;
}

export const judge = (
  text: string,
  value: number | undefined,
  isMet: (value: number) => boolean,
  show: (value: number) => string,
): Goal =>
  value === undefined || Number.isNaN(value)
    ? { text, measured: "not measured", met: undefined }
    : { text, measured: show(value), met: isMet(value) };

/** A value for each database, all of which must meet the goal. A smaller run than the goal states (not `isWhole`) proves nothing. */
export const judgeDatabases = <Sample extends { readonly database: string }>(
  text: string,
  samples: readonly Sample[],
  isWhole: boolean,
  isMet: (sample: Sample) => boolean,
  show: (sample: Sample) => string,
): Goal => ({
  text,
  measured: samples.map((sample) => `${sample.database} ${show(sample)}`).join(", "),
  met: isWhole ? samples.every(isMet) : undefined,
});

export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map((_, column) => (column === 0 ? "---" : "---:")), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");

/** A row for each item. A column is a heading and a function that shows an item. */
export const tableOf = <Item>(
  items: readonly Item[],
  columns: readonly (readonly [head: string, show: (item: Item) => string])[],
): string =>
  table(
    columns.map(([head]) => head),
    items.map((item) => columns.map(([, show]) => show(item))),
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
export const showTimes = (ratio: number): string => `${ratio.toFixed(2)} times`;
export const showCount = (count: number): string => count.toLocaleString("en-US");
export const showMegabytes = (bytes: number | undefined): string =>
  bytes === undefined ? none : (bytes / 1e6).toFixed(0);
/** The end of a progress line. */
export const showProblem = (problem: string | undefined): string =>
  problem === undefined ? "" : `  FAILED: ${problem}`;
