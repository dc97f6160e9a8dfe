import { Link, type LinkProps } from "@tanstack/react-router";
import { clsx } from "clsx";
import { useEffect, useRef } from "react";
import { ScrollRegion } from "../page.tsx";

type StepTone = "pass" | "fail" | "failed" | "none" | "changed";

/** What is known about a step, in a word. */
export interface StepMark {
  tone: StepTone;
  /** Read by screen readers, and shown on hover. */
  label: string;
  /** Set apart from other marks: the first divergence. */
  isFlagged?: boolean;
}

interface StepRow {
  id: string;
  /** Absent if there is only one row, which needs no name. */
  name?: string;
  markOf(step: number): StepMark | undefined;
}

interface StepStripProps {
  label: string;
  steps: readonly number[];
  current: number | undefined;
  rows: readonly StepRow[];
  link(step: number): LinkProps;
}

const grounds: Record<StepTone, string> = {
  pass: "bg-pass-soft text-pass",
  fail: "bg-fail-soft text-fail",
  failed: "bg-warn-soft text-warn",
  changed: "bg-accent-soft text-accent-ink",
  none: "bg-sunken text-ink-3",
};

/** Signs, so that a mark can be recognised without its colour. */
export const signs: Record<StepTone, string> = { pass: "✓", fail: "✕", failed: "!", changed: "Δ", none: "·" };

/** Steps add nothing to the browser's history, and the page does not scroll. */
const inPlace = { replace: true, resetScroll: false, preload: false } as const;

/** All steps of a trajectory in a line, with one row for each kind of mark. Every step is a link. */
export function StepStrip({ label, steps, current, rows, link }: StepStripProps) {
  const region = useRef<HTMLDivElement>(null);
  const { shown, before, after } = stepsAround(steps, current);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the current step's link moves with it
  useEffect(() => {
    const here = region.current?.querySelector<HTMLElement>("[data-current]");
    const box = region.current;
    if (here === null || here === undefined || box === null) return;
    const offset = here.getBoundingClientRect().left - box.getBoundingClientRect().left;
    box.scrollBy({ left: offset - box.clientWidth / 2 });
  }, [current]);
  const hasNames = rows.some(({ name }) => name !== undefined);
  return (
    <ScrollRegion
      ref={region}
      label={label}
      className="scroll-edges-x relative overflow-x-auto rounded-lg px-4 py-3 -outline-offset-2"
    >
      <table className="border-separate border-spacing-x-0.5 border-spacing-y-0.5 text-xs tabular-nums">
        <thead>
          <tr>
            {hasNames && (
              <th scope="col" className="sr-only">
                Evaluator
              </th>
            )}
            {before !== undefined && (
              <td>
                <More step={before} label="Earlier steps" link={link} />
              </td>
            )}
            {shown.map((step) => (
              <th key={step} scope="col" className="p-0 font-normal">
                <Link
                  {...link(step)}
                  {...inPlace}
                  aria-label={`Step ${step}`}
                  // The router marks the link to the current address; if the address has no step, the shown step is marked.
                  aria-current={step === current ? "step" : undefined}
                  data-current={step === current ? "" : undefined}
                  tabIndex={step === current ? 0 : -1}
                  className={clsx(
                    "flex h-6 min-w-7 items-center justify-center rounded px-1 max-sm:min-w-6.5",
                    step === current
                      ? "bg-accent font-semibold text-on-accent"
                      : "text-ink-3 hover:bg-hover hover:text-ink",
                  )}
                >
                  {step}
                </Link>
              </th>
            ))}
            {after !== undefined && (
              <td>
                <More step={after} label="Later steps" link={link} />
              </td>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, name, markOf }) => (
            <tr key={id}>
              {hasNames && (
                <th
                  scope="row"
                  title={name}
                  className="sticky left-0 z-10 max-w-40 truncate bg-surface pr-2 text-left font-normal text-ink-2 max-sm:max-w-24 max-sm:min-w-20 max-sm:leading-4 max-sm:whitespace-normal"
                >
                  {name}
                </th>
              )}
              {before !== undefined && <td />}
              {shown.map((step) => (
                <td key={step} className="p-0">
                  <Mark mark={markOf(step)} step={step} isCurrent={step === current} link={link} />
                </td>
              ))}
              {after !== undefined && <td />}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

function Mark({
  mark,
  step,
  isCurrent,
  link,
}: {
  mark: StepMark | undefined;
  step: number;
  isCurrent: boolean;
  link: StepStripProps["link"];
}) {
  const { tone, label, isFlagged = false } = mark ?? { tone: "none", label: "nothing yet" };
  return (
    <Link
      {...link(step)}
      {...inPlace}
      tabIndex={-1}
      title={`Step ${step}: ${label}`}
      aria-label={`Step ${step}: ${label}`}
      className={clsx(
        "flex h-6 min-w-7 items-center justify-center rounded-sm max-sm:min-w-6.5",
        grounds[tone],
        isFlagged && "ring-2 ring-fail ring-inset",
        isCurrent && "outline-2 outline-accent",
      )}
    >
      <span aria-hidden>{signs[tone]}</span>
    </Link>
  );
}

function More({ step, label, link }: Pick<StepStripProps, "label" | "link"> & { step: number }) {
  return (
    <Link
      {...link(step)}
      {...inPlace}
      aria-label={label}
      title={label}
      className="flex h-6 min-w-7 items-center justify-center rounded text-ink-3 hover:bg-hover hover:text-ink"
    >
      …
    </Link>
  );
}

/** A strip of more steps would be slow and could not be read. */
const mostSteps = 120;

/** The part of a long list of steps with the current step. Neighbours share it, so that the strip does not move at each step. */
export function stepsAround(
  steps: readonly number[],
  current: number | undefined,
): { shown: readonly number[]; before: number | undefined; after: number | undefined } {
  const index = Math.max(0, current === undefined ? 0 : steps.indexOf(current));
  const from = index - (index % mostSteps);
  return {
    shown: steps.slice(from, from + mostSteps),
    before: from > 0 ? steps[from - 1] : undefined,
    after: steps[from + mostSteps],
  };
}
