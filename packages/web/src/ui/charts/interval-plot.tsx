import { clsx } from "clsx";
import type { ReactNode } from "react";
import { linearScale, niceTicks, type Range } from "./scale.ts";

/** Draws a value as a dot, or as a bar from 0. Differences are dots. */
export type IntervalMarkKind = "dot" | "bar";

export interface IntervalRow {
  key: string;
  /** Plain text, which is also copied. */
  label: string;
  /** Shown in place of the label, for example a link. */
  shown?: ReactNode;
  /** Null: unknown. */
  value: number | null;
  lower?: number | null | undefined;
  upper?: number | null | undefined;
  /** Marked on the axis as well, for example a baseline. */
  reference?: number | null | undefined;
  /** The number of samples behind the value. */
  count?: number | undefined;
  /** What the value was computed from, for example “120 samples in 12 trajectories”: shown on hover, and copied. */
  basis?: string | undefined;
  /** Formatted. */
  pValue?: string | undefined;
  /** One of the colour tokens. */
  color?: string | undefined;
}

/** Room for half a label at both ends. */
const inset: Range = [4, 96];
const percent = (share: number) => `${share}%`;

export function IntervalAxis({ domain, format }: { domain: Range; format(value: number): string }) {
  const toX = linearScale(domain, inset);
  const ticks = niceTicks(domain, 4);
  // A phone and paper have room for every other tick only, counted from 0.
  const isSpare = (index: number) => ticks.length > 3 && (index - ticks.indexOf(0)) % 2 !== 0;
  return (
    <svg aria-hidden className="h-4 w-full overflow-visible">
      {ticks.map((value, index) => (
        <text
          key={value}
          x={percent(toX(value))}
          y="12"
          textAnchor="middle"
          className={clsx(
            "fill-ink-3 text-[11px] font-normal",
            isSpare(index) && "phone:hidden print:hidden",
          )}
        >
          {format(value)}
        </text>
      ))}
    </svg>
  );
}

interface IntervalRowMarkProps {
  mark: IntervalMarkKind;
  row: IntervalRow;
  domain: Range;
}

/** One value with its interval; ends beyond the axis are cut off with an arrow. */
export function IntervalRowMark({ mark, row, domain }: IntervalRowMarkProps) {
  const { value, lower, upper, reference, color = "var(--color-chart-1)" } = row;
  const scale = linearScale(domain, inset);
  const toX = (one: number) => percent(scale(Math.min(domain[1], Math.max(domain[0], one))));
  const zero = Math.min(domain[1], Math.max(domain[0], 0));
  return (
    <svg aria-hidden className="block h-5 w-full min-w-24 overflow-visible">
      {niceTicks(domain, 4).map((one) => (
        <line key={one} x1={toX(one)} x2={toX(one)} y1="-4" y2="24" className="stroke-line" />
      ))}
      {domain[0] <= 0 && domain[1] >= 0 && (
        <line x1={toX(0)} x2={toX(0)} y1="-4" y2="24" className="stroke-ink-3" />
      )}
      {mark === "bar" && value !== null && (
        <rect
          x={percent(scale(Math.min(zero, value)))}
          width={percent(Math.abs(scale(Math.max(domain[0], Math.min(domain[1], value))) - scale(zero)))}
          y="5"
          height="10"
          rx="1.5"
          fill={color}
          opacity="0.45"
        />
      )}
      {value !== null && lower != null && upper != null && (
        <g stroke={color} strokeWidth="1.75">
          <line x1={toX(lower)} x2={toX(upper)} y1="10" y2="10" />
          {lower >= domain[0] && <line x1={toX(lower)} x2={toX(lower)} y1="6.5" y2="13.5" />}
          {upper <= domain[1] && <line x1={toX(upper)} x2={toX(upper)} y1="6.5" y2="13.5" />}
        </g>
      )}
      {reference != null && (
        <line x1={toX(reference)} x2={toX(reference)} y1="2" y2="18" className="stroke-ink" strokeWidth="2" />
      )}
      {mark === "dot" && value !== null && (
        <circle cx={toX(value)} cy="10" r="4" fill={color} className="stroke-surface" />
      )}
      {value !== null && lower != null && lower < domain[0] && (
        <Beyond x={toX(domain[0])} text="‹" color={color} />
      )}
      {value !== null && upper != null && upper > domain[1] && (
        <Beyond x={toX(domain[1])} text="›" color={color} />
      )}
    </svg>
  );
}

function Beyond({ x, text, color }: { x: string; text: string; color: string }) {
  return (
    <text x={x} y="10" dy="0.3em" textAnchor="middle" fill={color} className="text-base">
      {text}
    </text>
  );
}
