import { type KeyboardEvent, type PointerEvent, type ReactNode, useRef, useState } from "react";
import { usePrinting } from "../../use-printing.ts";
import { type PlotArea, ValueAxis } from "./axes.tsx";
import { nearestPlace, placeAfter } from "./places.ts";
import { PlotReadout, type Readout, sayReadout } from "./plot-readout.tsx";
import { linearScale, type Range } from "./scale.ts";
import { type Size, useSize } from "./use-size.ts";

/** What is drawn on. */
export interface Plot {
  area: PlotArea;
  toX(place: number): number;
  toY(value: number): number;
}

interface PlotFrameProps {
  /** Names the plot for screen readers. */
  label: string;
  /** Where values are, in ascending order. */
  places: readonly number[];
  /** What the horizontal axis covers. */
  ends: Range;
  /** What the vertical axis covers. */
  domain: Range;
  ticks: readonly number[];
  formatTick(value: number): string;
  /** Between the frame and what is drawn, in pixels. */
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
    // A finger leaves when it is lifted, and what it pointed at should still be there to read.
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
