import { clsx } from "clsx";
import type { ButtonHTMLAttributes, ReactNode } from "react";
import { Tooltip } from "./overlay/tooltip.tsx";

/** A button with an icon only. Its label is a tooltip, and for screen readers. */
export function IconButton({
  label,
  icon,
  className,
  ...rest
}: Omit<ButtonHTMLAttributes<HTMLButtonElement>, "children"> & { label: string; icon: ReactNode }) {
  return (
    <Tooltip text={label}>
      <button
        type="button"
        {...rest}
        aria-label={label}
        className={clsx(
          "inline-flex size-7 shrink-0 items-center justify-center rounded-md text-ink-3 transition-colors print:hidden",
          "hover:bg-hover hover:text-ink disabled:cursor-not-allowed disabled:opacity-50 aria-disabled:cursor-not-allowed aria-disabled:opacity-50 [&_svg]:size-4",
          className,
        )}
      >
        {icon}
      </button>
    </Tooltip>
  );
}
