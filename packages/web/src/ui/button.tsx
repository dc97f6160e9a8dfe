import { clsx } from "clsx";
import { Check, Copy, LoaderCircle } from "lucide-react";
import { type ButtonHTMLAttributes, type ComponentProps, type ReactNode, use, useState } from "react";
import { copyText } from "./copy-text.ts";
import { ControlTabIndex, Tooltip } from "./tooltip.tsx";

export interface ButtonProps extends ComponentProps<"button"> {
  variant?: "primary" | "secondary" | "quiet" | "danger" | undefined;
  size?: "small" | "medium" | undefined;
  /** Shows a spinner and ignores clicks. */
  isBusy?: boolean;
  icon?: ReactNode;
}

export function Button({ variant, size, isBusy = false, icon, className, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      tabIndex={use(ControlTabIndex)}
      {...rest}
      // `disabled` would lose the focus.
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

const variants = {
  primary: "bg-accent text-on-accent hover:bg-accent-hover border-transparent",
  secondary: "bg-surface text-ink border-line-strong hover:bg-hover",
  quiet: "bg-transparent text-ink-2 border-transparent hover:bg-hover hover:text-ink",
  danger: "bg-fail text-white dark:text-canvas border-transparent hover:brightness-110",
};

const sizes = { small: "h-7 px-2 text-xs gap-1", medium: "h-8.5 px-3 text-sm gap-1.5" };

/** A button with only an icon. Its label is a tooltip, and its name for screen readers. */
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
        tabIndex={use(ControlTabIndex)}
        {...rest}
        onClick={rest["aria-disabled"] ? undefined : rest.onClick}
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

interface CopyButtonProps {
  /** The text, or a function that makes it when it is copied. */
  text: string | (() => string);
  /** For screen readers. */
  label: string;
  /** Shown next to the icon. */
  children?: string;
}

export function CopyButton({ text, label, children }: CopyButtonProps) {
  const { notice, copy } = useCopy();
  const start = () => copy(typeof text === "string" ? text : text());
  const icon = notice === "Copied" ? <Check className="text-pass" aria-hidden /> : <Copy aria-hidden />;
  if (children === undefined) return <IconButton label={notice ?? label} icon={icon} onClick={start} />;
  return (
    <Button icon={icon} onClick={start} aria-label={notice ?? label}>
      {notice ?? children}
    </Button>
  );
}

const noticeMs = 1_600;

/** Copies texts, and reports briefly whether that worked. */
export function useCopy() {
  const [notice, setNotice] = useState<"Copied" | "Could not copy">();
  async function copy(text: string): Promise<void> {
    setNotice((await copyText(text)) ? "Copied" : "Could not copy");
    setTimeout(() => setNotice(undefined), noticeMs);
  }
  return { notice, copy };
}
