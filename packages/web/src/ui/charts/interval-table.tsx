import { clsx } from "clsx";
import { type KeyboardEvent, type ReactNode, useState } from "react";
import { formatCount } from "../../format/numbers.ts";
import { Button } from "../button.tsx";
import { ExportMenu } from "../export-menu.tsx";
import { ScrollRegion } from "../page.tsx";
import { usePrinting } from "../screen.ts";
import { ControlTabIndex, Explained, ExplainedName } from "../tooltip.tsx";
import { copiedTable } from "./figures-table.tsx";
import { IntervalAxis, type IntervalMarkKind, type IntervalRow, IntervalRowMark } from "./interval-plot.tsx";
import { domainWithZero, type Range } from "./scale.ts";

interface IntervalTableProps {
  mark: IntervalMarkKind;
  /** The chart's name, also for screen readers. */
  label: string;
  /** What the rows are, for example “Action verb”. */
  rowLabel: string;
  /** What the values are, for example “Pass rate”. */
  valueLabel: string;
  /** What a value is and how its interval was made, shown where the values' name is hovered or focused. */
  explanation?: string | undefined;
  rows: readonly IntervalRow[];
  /** The range of the axis; if absent, it covers the values and 0. */
  domain?: Range | undefined;
  format(value: number): string;
  /** Formats values for the axis, where space is limited. */
  formatTick?(value: number): string;
  /** What a reference mark stands for, for example “No change”. */
  referenceLabel?: string | undefined;
  /** Explains the counts. */
  counted?: string;
  /** Rows that are shown before “Show all”. Default: 12. */
  most?: number | undefined;
  note?: ReactNode;
}

const defaultMost = 12;
/** Names of up to this length stay on one line. */
const longestUnbroken = 12;

/** A table whose values are drawn on one axis. It is its own text alternative. */
export function IntervalTable(props: IntervalTableProps) {
  const {
    mark,
    label,
    rowLabel,
    valueLabel,
    explanation,
    rows,
    format,
    formatTick = format,
    referenceLabel,
    counted = "Samples with a verdict. How many trajectories they are in, and how many failed,",
    most = defaultMost,
    note,
  } = props;
  const [isAll, setAll] = useState(false);
  const isPrinting = usePrinting();
  const domain = props.domain ?? domainWithZero(rows.flatMap(valuesOf));
  const shown = isAll || isPrinting ? rows : rows.slice(0, most);
  const hasP = rows.some(({ pValue }) => pValue !== undefined);
  const hasIntervals = rows.some(({ lower, upper }) => lower != null && upper != null);
  const hasCount = rows.some(({ count }) => count !== undefined);
  const hasReference = rows.some(({ reference }) => reference != null);
  return (
    <figure aria-label={label} className="@container relative flex min-w-0 flex-col pb-2">
      <ScrollRegion
        label={label}
        onKeyDown={moveInTable}
        className="scroll-edges-x relative min-w-0 overflow-x-auto -outline-offset-2 md:mr-8"
      >
        <ControlTabIndex value={-1}>
          <table className="w-full border-collapse text-sm tabular-nums">
            <thead>
              <tr className="text-xs text-ink-3 *:px-1.5 *:py-1.5 *:font-medium *:whitespace-nowrap *:first:pl-4 *:last:pr-4 md:*:last:pr-1 phone:*:nth-[n+4]:hidden">
                <th scope="col" className="text-left">
                  {rowLabel}
                </th>
                <th scope="col" className="w-1/2 min-w-24 text-left">
                  {/* The last tick reaches the next heading, which has the unit. */}
                  <IntervalAxis domain={domain} format={(value) => formatTick(value).replace(/\s?%$/, "")} />
                  <span className="sr-only">Drawn</span>
                </th>
                <th scope="col" className="text-right">
                  <ExplainedName name={valueLabel} explanation={explanation} />
                </th>
                {hasIntervals && (
                  <th scope="col" className="text-right @max-lg:hidden">
                    95&nbsp;% interval
                  </th>
                )}
                {hasReference && (
                  <th scope="col" className="text-right">
                    {referenceLabel}
                  </th>
                )}
                {hasP && (
                  <th scope="col" className="text-right whitespace-nowrap">
                    p
                  </th>
                )}
                {hasCount && (
                  <th scope="col" className="text-right">
                    <ExplainedName
                      name="n"
                      explanation={`${counted} is shown where a value is pointed at or focused, and copied.`}
                    />
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {shown.map((row) => (
                <tr
                  key={row.key}
                  className="border-t border-line *:px-1.5 *:py-1 *:first:pl-4 *:last:pr-4 md:*:last:pr-1 phone:*:nth-[n+4]:hidden hover:bg-hover/60"
                >
                  <th
                    scope="row"
                    className={clsx(
                      "max-w-52 truncate text-left font-normal phone:max-w-36",
                      row.label.length > longestUnbroken && "phone:whitespace-normal",
                    )}
                    title={row.label}
                  >
                    {row.shown ?? row.label}
                  </th>
                  <td aria-hidden>
                    <IntervalRowMark mark={mark} row={row} domain={domain} />
                  </td>
                  <td className="text-right font-medium whitespace-nowrap">
                    <Explained text={row.basis}>{show(row.value, format)}</Explained>
                    {hasIntervals && (
                      <span
                        aria-hidden
                        className="hidden text-xs font-normal text-ink-2 @max-lg:block phone:block"
                      >
                        {intervalText(row, format)}
                      </span>
                    )}
                  </td>
                  {hasIntervals && (
                    <td className="text-right text-xs whitespace-nowrap text-ink-2 @max-lg:hidden">
                      {intervalText(row, format)}
                    </td>
                  )}
                  {hasReference && (
                    <td className="text-right whitespace-nowrap text-xs text-ink-2">
                      {show(row.reference, format)}
                    </td>
                  )}
                  {hasP && <td className="text-right whitespace-nowrap">{row.pValue ?? "–"}</td>}
                  {hasCount && (
                    <td className="text-right text-ink-3">
                      {row.count === undefined ? "–" : formatCount(row.count)}
                      <span className="sr-only">{row.basis}</span>
                    </td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </ControlTabIndex>
      </ScrollRegion>
      {(note !== undefined || rows.length > most) && (
        <figcaption className="flex min-h-7 items-center gap-2 border-t border-line px-4 pt-2 text-xs text-ink-3">
          <span className="min-w-0 flex-1">{note}</span>
          {rows.length > most && (
            <Button size="small" variant="quiet" onClick={() => setAll(!isAll)}>
              {isAll ? "Show fewer" : `Show all ${rows.length}`}
            </Button>
          )}
        </figcaption>
      )}
      <div className="absolute top-0.5 right-1 max-md:hidden">
        <ExportMenu
          label={label}
          isDrawn
          table={() =>
            copiedTable({
              header: [rowLabel, valueLabel, "Lower", "Upper", referenceLabel ?? "Reference", "p", "Of"],
              rows: rows.map(({ label: name, value, lower, upper, reference, pValue, basis }) => ({
                name,
                cells: [value, lower, upper, reference, pValue, basis],
              })),
            })
          }
        />
      </div>
    </figure>
  );
}

const directions: Record<string, number> = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

/** The table is one stop for Tab; from there, the arrow keys go through everything that has an explanation. */
function moveInTable(event: KeyboardEvent<HTMLElement>): void {
  const { currentTarget, key, target } = event;
  const by = directions[key];
  // Left and right scroll the table itself.
  if (by === undefined || (target === currentTarget && key !== "ArrowDown")) return;
  const stops = [...currentTarget.querySelectorAll<HTMLElement>("button, [tabindex]")];
  const next = stops[stops.indexOf(target as HTMLElement) + by];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

function valuesOf({ value, lower, upper, reference }: IntervalRow): number[] {
  return [value, lower, upper, reference].filter((one) => one != null);
}

function show(value: number | null | undefined, format: (value: number) => string): string {
  return value == null ? "–" : format(value);
}

function intervalText({ value, lower, upper }: IntervalRow, format: (value: number) => string): string {
  if (value === null) return "–";
  if (lower == null || upper == null) return "no interval";
  // The unit appears once: “33.6 – 48.0 %”.
  return `${format(lower).replace(/\s\D+$/, "")} – ${format(upper)}`;
}
