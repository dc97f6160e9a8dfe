import type { RunFigures } from "@presage/contract";
import { score, scoreInterval, share, shareInterval } from "./pages.ts";

/** A step of fewer shows single trajectories, not how often the step is right. */
export const fewestTrajectories = 3;

interface FigureColumn {
  title: string;
  cell(figures: RunFigures): string;
  /** Whether it says something that the others do not. */
  isNews?(figures: RunFigures): boolean;
}

const isScore = ({ mean, pass_rate }: RunFigures) => mean !== pass_rate;
const hasFailures = ({ failed }: RunFigures) => failed > 0;
const columnsOfFigures: readonly FigureColumn[] = [
  { title: "Pass rate", cell: ({ pass_rate }) => share(pass_rate) },
  { title: "Interval", cell: ({ pass_interval }) => shareInterval(pass_interval) },
  {
    title: "With failures",
    cell: ({ pass_rate_failures_as_zero: rate }) => share(rate),
    isNews: hasFailures,
  },
  { title: "No change", cell: ({ no_change }) => share(no_change?.pass_rate ?? null) },
  { title: "Mean score", cell: ({ mean }) => score(mean), isNews: isScore },
  { title: "Interval", cell: ({ interval }) => scoreInterval(interval), isNews: isScore },
  {
    title: "With failures",
    cell: ({ mean_failures_as_zero: mean }) => score(mean),
    isNews: (figures) => isScore(figures) && hasFailures(figures),
  },
  { title: "No change", cell: ({ no_change }) => score(no_change?.mean ?? null), isNews: isScore },
  {
    title: "Samples",
    cell: ({ count, samples }) => (count === samples ? String(count) : `${count} of ${samples}`),
  },
  { title: "Predictions without a verdict", cell: ({ failed }) => String(failed), isNews: hasFailures },
  { title: "Trajectories", cell: ({ trajectories }) => String(trajectories) },
];

interface FigureTable {
  columns: string[];
  rows: string[][];
}

/** Figures in rows with their names before them, without the columns that say nothing in any of them. */
export function figureTable(
  names: readonly string[],
  rows: readonly { cells: readonly string[]; figures: RunFigures }[],
): FigureTable {
  const shown = columnsOfFigures.filter(({ cell, isNews = () => true }) =>
    rows.some(({ figures }) => isNews(figures) && cell(figures) !== "–"),
  );
  return {
    columns: [...names, ...shown.map(({ title }) => title)],
    rows: rows.map(({ cells, figures }) => [...cells, ...shown.map(({ cell }) => cell(figures))]),
  };
}
