import { type KeyboardEvent, type PointerEvent, useRef, useState } from "react";
import { type CurveSeries, type CurveShape, curvePaths, pointAt } from "./curve.ts";
import type { CurveChartProps } from "./curve-chart.tsx";
import { CurveReadout } from "./curve-readout.tsx";
import { linearScale, niceTicks, type Range } from "./scale.ts";
import { useWidth } from "./use-width.ts";

interface CurvePlotProps extends CurveChartProps {
  series: readonly (CurveSeries & { color: string })[];
  domain: Range;
  /** At least two. */
  xs: readonly number[];
  shape: CurveShape;
}

const height = 240;
const margin = { top: 8, right: 12, bottom: 36, left: 48 };
/** Room for one label of the horizontal axis. */
const tickWidth = 64;

/** Curves with their bands. The pointer and the arrow keys read them at one place. */
export function CurvePlot(props: CurvePlotProps) {
  const { label, xLabel, series, domain, xs, shape, format, formatTick = format } = props;
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const [place, setPlace] = useState<number>();
  const ends: Range = [xs[0] ?? 0, xs.at(-1) ?? 0];
  const toX = linearScale(ends, [margin.left, Math.max(margin.left, width - margin.right)]);
  const toY = linearScale(domain, [height - margin.bottom, margin.top]);
  const x = place === undefined ? undefined : xs[place];

  function point({ currentTarget, clientX }: PointerEvent<HTMLElement>) {
    const at = clientX - currentTarget.getBoundingClientRect().left;
    setPlace(nearest(xs, (one) => Math.abs(toX(one) - at)));
  }
  function move(event: KeyboardEvent) {
    const next = placeAfter(event.key, place ?? -1, xs.length - 1);
    if (event.key === "Escape" && place !== undefined) event.stopPropagation();
    if (event.key === "Escape") setPlace(undefined);
    if (next === undefined) return;
    event.preventDefault();
    setPlace(next);
  }

  return (
    <div
      ref={frame}
      role="slider"
      tabIndex={0}
      aria-label={`${label}, by ${xLabel.toLowerCase()}`}
      aria-valuemin={ends[0]}
      aria-valuemax={ends[1]}
      aria-valuenow={x ?? ends[0]}
      aria-valuetext={x === undefined ? "Arrow keys read the values" : readOut(props, x)}
      className="relative h-full touch-pan-y rounded -outline-offset-2"
      onPointerMove={point}
      onPointerDown={point}
      onPointerLeave={() => setPlace(undefined)}
      onBlur={() => setPlace(undefined)}
      onKeyDown={move}
    >
      {width > 0 && (
        <svg aria-hidden width={width} height={height} className="absolute inset-0">
          <Axes {...{ xLabel, format: formatTick, toX, toY, domain, ends, width }} />
          {series.map((one) => (
            <Curve key={one.key} series={one} shape={shape} toX={toX} toY={toY} />
          ))}
          {x !== undefined && (
            <g>
              <line
                x1={toX(x)}
                x2={toX(x)}
                y1={margin.top}
                y2={height - margin.bottom}
                className="stroke-ink-3"
                strokeDasharray="2 3"
              />
              {series.map((one) => {
                const value = pointAt(one, x, shape)?.value;
                return value == null ? null : (
                  <circle
                    key={one.key}
                    cx={toX(x)}
                    cy={toY(value)}
                    r="4"
                    fill={one.color}
                    className="stroke-surface"
                  />
                );
              })}
            </g>
          )}
        </svg>
      )}
      {x !== undefined && (
        <CurveReadout {...{ x, xLabel, series, shape, format }} left={toX(x)} isRight={toX(x) < width / 2} />
      )}
    </div>
  );
}

interface CurveProps {
  series: CurveSeries & { color: string };
  shape: CurveShape;
  toX(x: number): number;
  toY(value: number): number;
}

function Curve({ series: { points, color, isDashed = false }, shape, toX, toY }: CurveProps) {
  const { line, sure, band, lone } = curvePaths(points, shape, toX, toY);
  return (
    <g stroke={color} fill={color}>
      <path d={band} fillOpacity="0.15" stroke="none" />
      <path
        d={line}
        fill="none"
        strokeWidth="1.25"
        strokeLinejoin="round"
        strokeOpacity={sure === "" ? 1 : 0.4}
        strokeDasharray={isDashed ? "5 3" : undefined}
      />
      <path d={sure} fill="none" strokeWidth="2" strokeLinejoin="round" />
      {lone.map(({ x, value, lower, upper }) => (
        <g key={x}>
          {lower != null && upper != null && (
            <line x1={toX(x)} x2={toX(x)} y1={toY(lower)} y2={toY(upper)} strokeWidth="1.5" />
          )}
          <circle cx={toX(x)} cy={toY(value ?? 0)} r="2.5" stroke="none" />
        </g>
      ))}
    </g>
  );
}

interface AxesProps {
  xLabel: string;
  format(value: number): string;
  toX(x: number): number;
  toY(value: number): number;
  domain: Range;
  ends: Range;
  width: number;
}

function Axes({ xLabel, format, toX, toY, domain, ends, width }: AxesProps) {
  const bottom = height - margin.bottom;
  return (
    <g className="fill-ink-3 text-[12px] tabular-nums">
      {niceTicks(domain, 4).map((value) => (
        <g key={value}>
          <line
            x1={margin.left}
            x2={width - margin.right}
            y1={toY(value)}
            y2={toY(value)}
            className="stroke-line"
          />
          <text x={margin.left - 6} y={toY(value)} dy="0.32em" textAnchor="end">
            {format(value)}
          </text>
        </g>
      ))}
      <line
        x1={margin.left}
        x2={width - margin.right}
        y1={bottom}
        y2={bottom}
        className="stroke-line-strong"
      />
      {niceTicks(ends, (width - margin.left) / tickWidth, true).map((x) => (
        <text key={x} x={toX(x)} y={bottom + 14} textAnchor="middle">
          {x}
        </text>
      ))}
      <text x={(margin.left + width - margin.right) / 2} y={height - 4} textAnchor="middle">
        {xLabel}
      </text>
    </g>
  );
}

function readOut({ xLabel, series, shape, format }: CurvePlotProps, x: number): string {
  const values = series.map((one) => {
    const { value, lower, upper, basis } = pointAt(one, x, shape) ?? { value: null };
    if (value === null) return `${one.label}: no value`;
    const interval = lower == null || upper == null ? "" : `, ${format(lower)} to ${format(upper)}`;
    return `${one.label}: ${format(value)}${interval}${basis === undefined ? "" : `, ${basis}`}`;
  });
  return `${xLabel} ${x}. ${values.join(". ")}`;
}

function nearest(xs: readonly number[], distance: (x: number) => number): number {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const [index, x] of xs.entries()) {
    if (distance(x) >= least) continue;
    best = index;
    least = distance(x);
  }
  return best;
}

function placeAfter(key: string, place: number, last: number): number | undefined {
  if (key === "ArrowRight" || key === "ArrowUp") return Math.min(last, place + 1);
  if (key === "ArrowLeft" || key === "ArrowDown") return Math.max(0, place - 1);
  if (key === "PageDown") return Math.max(0, place - 10);
  if (key === "PageUp") return Math.min(last, place + 10);
  if (key === "Home") return 0;
  return key === "End" ? last : undefined;
}
