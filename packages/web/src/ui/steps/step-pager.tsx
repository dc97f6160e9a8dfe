import { Link, type LinkProps } from "@tanstack/react-router";
import { clsx } from "clsx";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { type ReactNode, useLayoutEffect, useRef } from "react";
import { buttonClass } from "../button.tsx";
import { useShortcut } from "../shortcuts.tsx";

interface StepPagerProps {
  steps: readonly number[];
  current: number;
  link(step: number): LinkProps;
  /** Shown between the two links. */
  children: ReactNode;
}

/** Links to the previous and the next step. */
export function StepPager({ steps, current, link, children }: StepPagerProps) {
  const index = steps.indexOf(current);
  return (
    <div className="flex min-w-0 items-center gap-2">
      <Way label="Previous step (K)" step={steps[index - 1]} link={link} icon={<ChevronLeft aria-hidden />} />
      <h2 className="min-w-0 flex-1 text-sm font-semibold tabular-nums">{children}</h2>
      <Way label="Next step (J)" step={steps[index + 1]} link={link} icon={<ChevronRight aria-hidden />} />
    </div>
  );
}

function Way({
  label,
  step,
  link,
  icon,
}: {
  label: string;
  step: number | undefined;
  link: StepPagerProps["link"];
  icon: ReactNode;
}) {
  const look = clsx(buttonClass({ size: "small" }), "px-1!");
  if (step === undefined) {
    return (
      <span aria-hidden className={clsx(look, "opacity-40")}>
        {icon}
      </span>
    );
  }
  return (
    <Link {...link(step)} replace resetScroll={false} aria-label={label} title={label} className={look}>
      {icon}
    </Link>
  );
}

const group = "Steps";

/** J and K go to the next and the previous step, Home and End to the first and the last. */
export function useStepKeys(
  steps: readonly number[],
  current: number | undefined,
  open: (step: number) => void,
): void {
  const index = current === undefined ? -1 : steps.indexOf(current);
  // Where the last key led: the next key may come before that step is drawn.
  const reached = useRef(index);
  useLayoutEffect(() => {
    reached.current = index;
  }, [index]);
  const openAt = (at: number) => {
    const step = steps[at];
    if (step === undefined || at === reached.current) return;
    reached.current = at;
    open(step);
  };
  const last = steps.length - 1;
  useShortcut({
    keys: "j",
    label: "Next step",
    group,
    run: () => openAt(Math.min(reached.current + 1, last)),
  });
  useShortcut({
    keys: "k",
    label: "Previous step",
    group,
    run: () => openAt(Math.max(reached.current - 1, 0)),
  });
  useShortcut({ keys: "Home", label: "First step", group, run: () => openAt(0) });
  useShortcut({ keys: "End", label: "Last step", group, run: () => openAt(last) });
}

/** Explains the keys of `useStepKeys`, where there is a keyboard and more than one step. */
export function StepKeysHint({ count }: { count: number }) {
  if (count < 2) return null;
  return (
    <span className="max-sm:hidden">
      {" "}
      · <kbd className="font-mono text-xs">J</kbd> and <kbd className="font-mono text-xs">K</kbd> go through
      them
    </span>
  );
}
