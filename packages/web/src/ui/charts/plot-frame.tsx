import { clsx } from "clsx";
import { type KeyboardEvent, type PointerEvent, type ReactNode, useRef, useState } from "react";
import { type Size, usePrinting, useSize } from "../screen.ts";
import { type PlotArea, ValueAxis } from "./axes.tsx";
import { ChartSwatch } from "./legend.tsx";
import { linearScale, type Range } from "./scale.ts";
import type { ChartSeries } from "./time-series.ts";

/** The surface that values are drawn on. */
export interface Plot {
  area: PlotArea;
  toX(place: number): number;
  toY(value: number): number;
}

interface PlotFrameProps {
  /** The plot's name for screen readers. */
  label: string;
  /** The places that have values, in ascending order. */
  places: readonly number[];
  /** The range of the horizontal axis. */
  ends: Range;
  /** The range of the vertical axis. */
  domain: Range;
  ticks: readonly number[];
  formatTick(value: number): string;
  /** The space between the frame and the drawing, in pixels. */
  margin: PlotArea;
  read(place: number): Readout;
  /** Draws the horizontal axis and the values. */
  draw(plot: Plot): ReactNode;
}

/** The width of a plot on paper, where nothing can be measured. It fits upright A4 and letter. */
const paperPx = 640;

/** A plot as large as its parent. The pointer and the arrow keys read its values at one place. */
export function PlotFrame({ label, places, read, ...look }: PlotFrameProps) {
  const frame = useRef<HTMLDivElement>(null);
  const measured = useSize(frame);
  const size = usePrinting() ? { ...measured, width: paperPx } : measured;
  const plot = layOut(size, look);
  const [index, setIndex] = useState<number>();
  const place = index === undefined ? undefined : places[index];
  const readout = place === undefined ? undefined : read(place);

  function point({ currentTarget, clientX }: PointerEvent<HTMLElement>) {
    const at = clientX - currentTarget.getBoundingClientRect().left;
    setIndex(nearestPlace(places.map(plot.toX), at));
  }
  function leave({ pointerType }: PointerEvent) {
    // Lifting a finger counts as leaving, but the values that it pointed at should stay readable.
    if (pointerType !== "touch") setIndex(undefined);
  }
  function move(event: KeyboardEvent) {
    const next = placeAfter(event.key, index ?? -1, places.length - 1);
    if (event.key === "Escape" && index !== undefined) event.stopPropagation();
    if (event.key === "Escape") setIndex(undefined);
    if (next === undefined) return;
    event.preventDefault();
    setIndex(next);
  }

  return (
    <div
      ref={frame}
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={places[0] ?? 0}
      aria-valuemax={places.at(-1) ?? 0}
      aria-valuenow={place ?? places[0] ?? 0}
      aria-valuetext={readout === undefined ? "Arrow keys read the values" : sayReadout(readout)}
      className="relative h-full touch-pan-y rounded -outline-offset-2"
      onPointerMove={point}
      onPointerDown={point}
      onPointerLeave={leave}
      onPointerCancel={() => setIndex(undefined)}
      onBlur={() => setIndex(undefined)}
      onKeyDown={move}
    >
      {size.width > 0 && (
        <svg aria-hidden {...size} className="absolute inset-0">
          <ValueAxis area={plot.area} ticks={look.ticks} format={look.formatTick} toY={plot.toY} />
          {look.draw(plot)}
          {place !== undefined && readout !== undefined && (
            <Cursor plot={plot} place={place} rows={readout.rows} domain={look.domain} />
          )}
        </svg>
      )}
      {place !== undefined && readout !== undefined && (
        <PlotReadout {...readout} left={plot.toX(place)} width={size.width} />
      )}
    </div>
  );
}

function layOut(
  { width, height }: Size,
  { ends, domain, margin }: Pick<PlotFrameProps, "ends" | "domain" | "margin">,
): Plot {
  const { left, top } = margin;
  const right = Math.max(left, width - margin.right);
  const bottom = Math.max(top, height - margin.bottom);
  return {
    area: { left, right, top, bottom },
    toX: linearScale(ends, [left, right]),
    toY: linearScale(domain, [bottom, top]),
  };
}

interface CursorProps extends Pick<Readout, "rows"> {
  plot: Plot;
  place: number;
  domain: Range;
}

function Cursor({ plot: { area, toX, toY }, place, rows, domain }: CursorProps) {
  const x = toX(place);
  return (
    <g>
      <line x1={x} x2={x} y1={area.top} y2={area.bottom} className="stroke-ink-3" strokeDasharray="2 3" />
      {rows.map(({ key, color, dot }) =>
        dot == null || dot > domain[1] ? null : (
          <circle key={key} cx={x} cy={toY(dot)} r="4" fill={color} className="stroke-surface" />
        ),
      )}
    </g>
  );
}

/** The index of the place that is nearest to a position. `positions` are in ascending order. */
export function nearestPlace(positions: readonly number[], to: number): number {
  const next = positions.findIndex((position) => position >= to);
  if (next === -1) return Math.max(0, positions.length - 1);
  const before = positions[next - 1];
  const after = positions[next] ?? to;
  return before !== undefined && to - before <= after - to ? next - 1 : next;
}

/** The index of the place that a key leads to, as on any slider; undefined for other keys. -1 is before the first place. */
export function placeAfter(key: string, place: number, last: number): number | undefined {
  if (key === "ArrowRight" || key === "ArrowUp") return Math.min(last, place + 1);
  if (key === "ArrowLeft" || key === "ArrowDown") return Math.max(0, place - 1);
  if (key === "PageDown") return Math.max(0, place - 10);
  if (key === "PageUp") return Math.min(last, place + 10);
  if (key === "Home") return 0;
  return key === "End" ? last : undefined;
}

/** The values at one place of a plot. */
export interface Readout {
  /** The place, for example “Step 3”. */
  title: string;
  rows: readonly ReadoutRow[];
}

export interface ReadoutRow extends Pick<ChartSeries, "key" | "label" | "color" | "shape" | "isDashed"> {
  /** Formatted; null: unknown. */
  value: string | null;
  /** Lines below the value, for example its interval. */
  details?: readonly string[];
  /** The value that a dot marks in the plot. */
  dot?: number | null;
}

interface PlotReadoutProps extends Readout {
  /** The position of the place, in pixels. */
  left: number;
  /** The width of the plot, in pixels. */
  width: number;
}

/** The space between a place and its values, in pixels. */
const distance = 10;

/** Shows the values next to their place, on the side with more room. */
function PlotReadout({ title, rows, left, width }: PlotReadoutProps) {
  const isRight = left < width / 2;
  const room = (isRight ? left : width - left) + distance;
  return (
    <div
      aria-hidden
      className={clsx(
        "pointer-events-none absolute inset-x-0 top-2 z-10 flex",
        !isRight && "flex-row-reverse",
      )}
    >
      {/* Shrinks where the values would not fit next to the place. */}
      <span style={{ flexBasis: room }} />
      <div className="max-w-64 shrink-0 rounded-md border border-line bg-surface px-3 py-2 text-xs shadow-float">
        <p className="mb-1 font-medium">{title}</p>
        <ul className="flex flex-col gap-1">
          {rows.map((row) => (
            <ReadoutValue key={row.key} row={row} />
          ))}
        </ul>
      </div>
    </div>
  );
}

function ReadoutValue({ row }: { row: ReadoutRow }) {
  const { label, value, details = [], color, shape, isDashed = false } = row;
  return (
    <li>
      <span className="flex items-center gap-1.5">
        <ChartSwatch color={color} shape={shape} isDashed={isDashed} />
        <span className="min-w-0 flex-1 truncate text-ink-2">{label}</span>
        <span className="pl-3 font-medium tabular-nums">{value ?? "–"}</span>
      </span>
      {details.map((detail) => (
        <span key={detail} className="block pl-5 text-ink-3 tabular-nums">
          {detail}
        </span>
      ))}
    </li>
  );
}

/** The values as a sentence, for screen readers. */
function sayReadout({ title, rows }: Readout): string {
  const values = rows.map(
    ({ label, value, details = [] }) => `${label}: ${[value ?? "no value", ...details].join(", ")}`,
  );
  return `${title}. ${values.join(". ")}`.replaceAll(" – ", " to ");
}
