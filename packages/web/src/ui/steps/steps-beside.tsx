import { Link, type LinkProps } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { Card } from "../card.tsx";
import { InlineText } from "../untrusted-text/inline-text.tsx";
import { type StepMark, StepStrip, signs, stepsAround } from "./step-strip.tsx";

interface StepsBesideProps {
  /** What the signs mean. */
  hint: string;
  steps: readonly number[];
  current: number | undefined;
  actionOf(step: number): string;
  markOf(step: number): StepMark | undefined;
  /** Shown in place of the mark's sign. */
  noteOf?(step: number): ReactNode;
  link(step: number): LinkProps;
  /** The step that is shown. */
  children: ReactNode;
}

/** The actions of all steps, next to the step that is shown; on narrow screens, all steps in a line above it. */
export function StepsBeside({ hint, children, ...of }: StepsBesideProps) {
  const { steps, current, actionOf, markOf, noteOf, link } = of;
  const list = useRef<HTMLOListElement>(null);
  const { shown } = stepsAround(steps, current);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the current step's link moves with it
  useEffect(() => {
    list.current?.querySelector("[data-shown]")?.scrollIntoView({ block: "nearest" });
  }, [current]);
  return (
    <>
      <Card className="lg:hidden">
        <StepStrip
          label="Steps"
          steps={steps}
          current={current}
          rows={[{ id: "mark", markOf }]}
          link={link}
        />
      </Card>
      <div className="grid min-w-0 items-start gap-4 lg:grid-cols-[17rem_minmax(0,1fr)]">
        <Card title="Steps" hint={hint} className="sticky top-0 max-lg:hidden">
          <ol ref={list} className="max-h-[calc(100dvh-10rem)] overflow-y-auto py-1">
            {shown.map((step) => {
              const { tone, label, isFlagged } = markOf(step) ?? { tone: "none", label: "" };
              return (
                <li key={step}>
                  <Link
                    {...link(step)}
                    replace
                    resetScroll={false}
                    preload={false}
                    // The router marks the link to the current address; if the address has no step, the first step is marked.
                    data-shown={step === current ? "" : undefined}
                    className="flex items-baseline gap-2.5 px-4 py-1.5 text-sm -outline-offset-2 hover:bg-hover data-shown:bg-accent-soft data-shown:font-medium"
                  >
                    <span className="w-5 shrink-0 text-right text-xs text-ink-3 tabular-nums">{step}</span>
                    <span className="min-w-0 flex-1 truncate">
                      <InlineText text={actionOf(step)} />
                    </span>
                    <span
                      title={label}
                      className={`shrink-0 text-xs tabular-nums ${isFlagged ? "font-semibold text-fail" : "text-ink-3"}`}
                    >
                      {noteOf?.(step) ?? <span aria-hidden>{signs[tone]}</span>}
                      <span className="sr-only"> {label}</span>
                    </span>
                  </Link>
                </li>
              );
            })}
          </ol>
        </Card>
        {children}
      </div>
    </>
  );
}
