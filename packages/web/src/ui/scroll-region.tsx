import type { ComponentProps } from "react";

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
