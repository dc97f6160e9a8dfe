import { Link, type LinkProps } from "@tanstack/react-router";
import { clsx } from "clsx";
import { ChevronLeft, ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { buttonClass } from "../button.tsx";

interface StepPagerProps {
  steps: readonly number[];
  current: number;
  link(step: number): LinkProps;
  /** Between the two ways. */
  children: ReactNode;
}

/** The ways to the step before and the one behind. */
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
