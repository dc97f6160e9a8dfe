import { clsx } from "clsx";
import { LoaderCircle } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";

export interface ButtonProps extends ComponentProps<"button"> {
  variant?: "primary" | "secondary" | "quiet" | "danger" | undefined;
  size?: "small" | "medium" | undefined;
  /** Shows a spinner and ignores clicks. */
  isBusy?: boolean;
  icon?: ReactNode;
}

const variants = {
  primary: "bg-accent text-on-accent hover:bg-accent-hover border-transparent",
  secondary: "bg-surface text-ink border-line-strong hover:bg-hover",
  quiet: "bg-transparent text-ink-2 border-transparent hover:bg-hover hover:text-ink",
  danger: "bg-fail text-white dark:text-canvas border-transparent hover:brightness-110",
};

const sizes = { small: "h-7 px-2 text-xs gap-1", medium: "h-8.5 px-3 text-sm gap-1.5" };

/** Also for links that look like buttons. */
export function buttonClass({
  variant = "secondary",
  size = "medium",
}: Pick<ButtonProps, "variant" | "size">) {
  return clsx(
    "inline-flex shrink-0 items-center justify-center rounded-md border font-medium whitespace-nowrap transition-colors print:hidden",
    "disabled:cursor-not-allowed disabled:opacity-60 aria-disabled:cursor-not-allowed aria-disabled:opacity-60 [&_svg]:size-4 [&_svg]:shrink-0",
    variants[variant],
    sizes[size],
  );
}

export function Button({ variant, size, isBusy = false, icon, className, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      // Not `disabled`, which would lose the focus.
      aria-busy={isBusy || undefined}
      aria-disabled={isBusy || rest["aria-disabled"]}
      onClick={isBusy ? (event) => event.preventDefault() : rest.onClick}
      className={clsx(buttonClass({ variant, size }), className)}
    >
      {isBusy ? <LoaderCircle className="animate-spin" aria-hidden /> : icon}
      {children}
    </button>
  );
}
