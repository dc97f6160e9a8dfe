import type { Step } from "../../../format/times.ts";
import { type ChartPoint, type ChartSeries, formatChartValue } from "../chart-series.ts";
import { formatStep, formatStepShort } from "../format-step.ts";
import { PlaceAxis } from "../plot/axes.tsx";
import { type Plot, PlotFrame } from "../plot/plot-frame.tsx";
import type { Readout } from "../plot/plot-readout.tsx";
import { niceEnd, niceTicks, type Range } from "../plot/scale.ts";
import { findPeaks, highestOf, type Peak } from "./heights.ts";
import { placeLabels, placeNotes } from "./place-labels.ts";
import { barWidth, TimeMarks } from "./time-marks.tsx";

export interface TimePlotProps {
  /** For screen readers. */
  label: string;
  step: Step;
  series: readonly ChartSeries[];
  points: readonly ChartPoint[];
  format(value: number): string;
  /** For the axis, where space is limited. */
  formatTick(value: number): string;
  /** The upper end of the axis; absent: from the data. What is higher ends there with a mark. */
  greatest?: number | undefined;
  /** All values are integers. */
  isWhole?: boolean;
}

const margin = { left: 54, right: 8, top: 8, bottom: 24 };
const wantedTicks = 5;
const noteHeight = 13;

/** Bars, lines and bands over time. */
export function TimePlot(props: TimePlotProps) {
  const { label, step, series, points, formatTick, greatest, isWhole } = props;
  const highest = highestOf(points, series);
  const domain: Range = [0, greatest ?? niceEnd(highest, wantedTicks, isWhole)];
  // An axis without values has no scale.
  const ticks = highest === 0 ? [0] : niceTicks(domain, wantedTicks, isWhole);
  const peaks = greatest === undefined ? [] : findPeaks(points, series, greatest);
  return (
    <PlotFrame
      label={label}
      places={points.map((_, index) => index)}
      ends={[-0.5, points.length - 0.5]}
      domain={domain}
      ticks={ticks}
      formatTick={(value) => (value === 0 ? "0" : formatTick(value))}
      margin={margin}
      read={(index) => readAt(props, points[index])}
      draw={(plot) => (
        <>
          <TimeMarks plot={plot} points={points} series={series} top={domain[1]} />
          <TimeAxis plot={plot} points={points} step={step} />
          <PeakNotes plot={plot} pointCount={points.length} peaks={peaks} format={formatTick} />
        </>
      )}
    />
  );
}

function TimeAxis({ plot, points, step }: { plot: Plot } & Pick<TimePlotProps, "points" | "step">) {
  const texts = points.map(({ startMs }) => formatStepShort(startMs, step));
  return <PlaceAxis area={plot.area} labels={placeLabels(texts, plot.toX, plot.area.right + margin.right)} />;
}

interface PeakNotesProps {
  plot: Plot;
  pointCount: number;
  peaks: readonly Peak[];
  format(value: number): string;
}

/** How high what is cut off is. */
function PeakNotes({ plot, pointCount, peaks, format }: PeakNotesProps) {
  const { area, toX } = plot;
  const notes = placeNotes(
    peaks.map(({ index, value }) => ({ x: toX(index), text: `▲ ${format(value)}` })),
    barWidth(plot, pointCount) / 2 + 2,
    [area.left, area.right],
  );
  return (
    // The outline keeps it legible on the bars beside it.
    <g className="fill-ink stroke-surface text-[11px]" strokeWidth="3" paintOrder="stroke">
      {notes.map(({ x, text, anchor, row }) => (
        <text key={`${x} ${row}`} x={x} y={area.top + row * noteHeight} dy="0.32em" textAnchor={anchor}>
          {text}
        </text>
      ))}
    </g>
  );
}

function readAt({ series, step, format }: TimePlotProps, point: ChartPoint | undefined): Readout {
  const rows = series.map(({ key, label, color, shape, isDashed = false }) => {
    const value = point?.values[key] ?? null;
    return {
      ...{ key, label, color, shape, isDashed },
      value: value === null ? null : formatChartValue(value, format),
      dot: shape === "line" && typeof value === "number" ? value : null,
    };
  });
  return { title: point === undefined ? "" : formatStep(point.startMs, step), rows };
}
