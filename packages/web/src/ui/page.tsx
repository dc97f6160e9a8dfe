import { clsx } from "clsx";
import { type ComponentProps, type ReactNode, useDeferredValue, useEffect } from "react";

interface PageProps {
  title: string;
  hint?: ReactNode;
  /** Controls that choose what the page shows, in place of the hint. */
  controls?: ReactNode;
  actions?: ReactNode;
  /** Uses the full width and height, and scrolls inside. */
  isFull?: boolean;
  children: ReactNode;
}

/** Later pages are complete in their first frame, which restores their scroll position. */
let isFirst = true;

export function Page({ title, hint, controls, actions, isFull = false, children }: PageProps) {
  // The first page draws everything but its title in small tasks, as code and data are still arriving.
  const isDrawn = useDeferredValue(true, !isFirst);
  useEffect(() => {
    isFirst = false;
  }, []);
  useEffect(() => {
    document.title = `${title} · Presage`;
  }, [title]);
  return (
    <div
      className={clsx(
        "flex min-w-0 flex-col gap-4 p-4 md:p-6 print:block print:h-auto print:max-w-none print:p-0 print:*:mb-4",
        isFull ? "h-full min-h-0" : "max-w-7xl",
      )}
    >
      <header className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-96 max-sm:basis-72">
          <h1 className="text-lg font-semibold tracking-tight wrap-anywhere">{title}</h1>
          {hint !== undefined && <p className="text-sm wrap-anywhere text-ink-2">{hint}</p>}
          {isDrawn && controls}
        </div>
        {isDrawn && actions !== undefined && (
          <div className="flex flex-wrap items-center gap-2 print:hidden phone:[&>.size-7]:size-9 phone:[&>:is(a,button)]:px-2">
            {actions}
          </div>
        )}
      </header>
      {isDrawn && children}
    </div>
  );
}

interface ScrollRegionProps extends Omit<ComponentProps<"section">, "aria-label"> {
  /** Names a section for screen readers; preformatted text needs no name. */
  label?: string;
  as?: "section" | "pre";
}

/** A part of the page that scrolls by itself. It can take the focus, so that the keyboard can scroll it. */
export function ScrollRegion({ label, as = "section", ...rest }: ScrollRegionProps) {
  // Both take the same attributes; only the types of their refs differ.
  const Tag = as as "section";
  return <Tag aria-label={label} tabIndex={0} {...rest} />;
}
