import type { RunFigures, RunReport } from "@presage/contract";
import { countOf } from "../../platform/words.ts";
import {
  firstRows,
  formatScore,
  formatScoreInterval,
  formatShare,
  formatShareInterval,
  heading,
  paragraph,
  type ReportPart,
} from "./pages.ts";

interface FigureColumn {
  title: string;
  cell(figures: RunFigures): string;
  /** Whether it says something that the other columns do not. */
  isNews?(figures: RunFigures): boolean;
}

const isScore = ({ mean, pass_rate }: RunFigures) => mean !== pass_rate;
const hasFailures = ({ failed }: RunFigures) => failed > 0;
const columnsOfFigures: readonly FigureColumn[] = [
  { title: "Pass rate", cell: ({ pass_rate }) => formatShare(pass_rate) },
  { title: "Interval", cell: ({ pass_interval }) => formatShareInterval(pass_interval) },
  {
    title: "With failures",
    cell: ({ pass_rate_failures_as_zero: rate }) => formatShare(rate),
    isNews: hasFailures,
  },
  { title: "No change", cell: ({ no_change }) => formatShare(no_change?.pass_rate ?? null) },
  { title: "Mean score", cell: ({ mean }) => formatScore(mean), isNews: isScore },
  { title: "Interval of the mean", cell: ({ interval }) => formatScoreInterval(interval), isNews: isScore },
  {
    title: "Mean with failures",
    cell: ({ mean_failures_as_zero: mean }) => formatScore(mean),
    isNews: (figures) => isScore(figures) && hasFailures(figures),
  },
  {
    title: "Mean of no change",
    cell: ({ no_change }) => formatScore(no_change?.mean ?? null),
    isNews: isScore,
  },
  {
    title: "Samples",
    cell: ({ count, samples }) => (count === samples ? String(count) : `${count} of ${samples}`),
  },
  { title: "Predictions without a verdict", cell: ({ failed }) => String(failed), isNews: hasFailures },
  { title: "Trajectories", cell: ({ trajectories }) => String(trajectories) },
];

/** Figures in rows after their names, without columns that are empty or say nothing in every row. */
export function figureTable(
  names: readonly string[],
  rows: readonly { cells: readonly string[]; figures: RunFigures }[],
): { columns: string[]; rows: string[][] } {
  const shown = columnsOfFigures.filter(({ cell, isNews = () => true }) =>
    rows.some(({ figures }) => isNews(figures) && cell(figures) !== "–"),
  );
  return {
    columns: [...names, ...shown.map(({ title }) => title)],
    rows: rows.map(({ cells, figures }) => [...cells, ...shown.map(({ cell }) => cell(figures))]),
  };
}

type Ends = NonNullable<RunReport["ends"]>;

/** Whether predictions end when the real environment ends, and pay what it pays. */
export function endsParts({ ends, run }: RunReport): ReportPart[] {
  if (ends === undefined || run.provenance.ends === undefined) return [];
  const { done, reward, note } = ends;
  const figures = [
    ["Ends alike", done?.agreement, formatShare, formatShareInterval],
    ["False ends", done?.false_ends, formatShare, formatShareInterval],
    ["Missed ends", done?.missed_ends, formatShare, formatShareInterval],
    ["Reward, mean absolute error", reward?.absolute_error, formatScore, formatScoreInterval],
    ["Reward, rank correlation", reward?.spearman, formatScore, formatScoreInterval],
  ] as const;
  return [
    heading(2, "Ends and rewards"),
    ...(note === null ? [] : [paragraph(note)]),
    ...(done ? [countsTable(done)] : []),
    {
      kind: "table",
      columns: ["Figure", "Value", "Interval", "Predictions", "Trajectories", ""],
      rows: figures.flatMap(([name, one, value, interval]) =>
        one === undefined
          ? []
          : [
              [
                name,
                value(one.value),
                interval(one.interval),
                `${one.count}`,
                `${one.trajectories}`,
                one.note ?? "",
              ],
            ],
      ),
    },
    ...[done, reward].flatMap((one, index) =>
      one === null || one.without === 0
        ? []
        : paragraph(
            `Left out, as they say nothing of ${index === 0 ? "the end" : "the reward"}: ${countOf(one.without, "prediction")}.`,
          ),
    ),
    ...(done ? stepChart(done) : []),
    ...stepTable(done, reward),
  ];
}

function countsTable({ counts }: NonNullable<Ends["done"]>): ReportPart {
  const { both, only_predicted, only_recorded, neither } = counts;
  return {
    kind: "table",
    columns: ["", "Really ends", "Really goes on"],
    rows: [
      ["Predicted to end", String(both), String(only_predicted)],
      ["Predicted to go on", String(only_recorded), String(neither)],
    ],
  };
}

function stepChart({ step }: NonNullable<Ends["done"]>): ReportPart[] {
  const points = step.flatMap(({ key, agreement: { value, interval } }) =>
    value === null ? [] : [{ step: key, share: value, interval, baseline: null }],
  );
  if (points.length < 2) return [];
  return [
    { kind: "chart", caption: "Predictions that end alike, by step, with their 95 % interval.", points },
  ];
}

function stepTable(done: Ends["done"], reward: Ends["reward"]): ReportPart[] {
  const ends = new Map(done?.step.map((one) => [one.key, one]));
  const rewards = new Map(reward?.step.map((one) => [one.key, one]));
  const keys = [...new Set([...ends.keys(), ...rewards.keys()])].sort((a, b) => a - b);
  const rows = keys.map((key) => {
    const { counts, agreement } = ends.get(key) ?? {};
    const { absolute_error: error, spearman } = rewards.get(key) ?? {};
    return [
      String(key),
      formatShare(agreement?.value ?? null),
      formatShareInterval(agreement?.interval ?? null),
      counts === undefined ? "–" : `${counts.both + counts.only_recorded} of ${agreement?.count}`,
      formatScore(error?.value ?? null),
      formatScoreInterval(error?.interval ?? null),
      formatScore(spearman?.value ?? null),
      formatScoreInterval(spearman?.interval ?? null),
    ];
  });
  const ofRewards = [
    "Error of rewards",
    "Interval of the error",
    "Rank correlation",
    "Interval of the correlation",
  ];
  const columns = ["Step", "Ends alike", "Interval", "Real ends", ...ofRewards];
  return rows.length === 0 ? [] : firstRows(columns, rows, { title: "By step" });
}
