import { queryAllByRole } from "@testing-library/dom";
import type { Role } from "../page.ts";

export type Text = string | RegExp;

/** Finds elements below one, in the document's order. */
export type Query = (root: Element) => Element[];

export function byRole(
  role: Role,
  {
    name,
    exact = false,
    level,
    disabled,
  }: { name?: Text; exact?: boolean; level?: number; disabled?: boolean },
): Query {
  const matches = name === undefined ? undefined : matcher(name, exact);
  return (root) => {
    const hidden = new Map<Element, boolean>();
    return queryAllByRole(root as HTMLElement, role, {
      hidden: true,
      ...(level !== undefined && { level }),
      // Computing a name takes longer than checking visibility.
      ...(matches && {
        name: (found: string, element: Element) =>
          !isHidden(element, hidden, true) && matches(collapse(found)),
      }),
    }).filter(
      (element) =>
        !isHidden(element, hidden, true) && (disabled === undefined || isDisabled(element) === disabled),
    );
  };
}

/** Finds the innermost elements with the text, which may include the root of the search. */
export function byText(text: Text, exact: boolean): Query {
  const matches = matcher(text, exact);
  const find = (element: Element, found: Element[]): boolean => {
    if (/^(SCRIPT|STYLE|NOSCRIPT)$/.test(element.tagName)) return false;
    if (!matches(collapse(element.textContent ?? ""))) return false;
    let isInner = false;
    for (const child of element.children) isInner = find(child, found) || isInner;
    if (!isInner) found.push(element);
    return true;
  };
  return (root) => {
    const found: Element[] = [];
    searchAll(root, found);
    return found;
  };

  /** A pattern from start to end may match an inner element, but not the element around it. */
  function searchAll(element: Element, found: Element[]): void {
    if (find(element, found)) return;
    for (const child of element.children) searchAll(child, found);
  }
}

export function byLabel(text: Text, exact: boolean): Query {
  const matches = matcher(text, exact);
  return (root) =>
    [...root.querySelectorAll("input, textarea, select, button, [aria-label], [aria-labelledby]")].filter(
      (element) => labelsOf(element).some((label) => matches(collapse(label))),
    );
}

function labelsOf(element: Element): string[] {
  const ids = element.getAttribute("aria-labelledby")?.split(" ") ?? [];
  const named = ids.map((id) => element.ownerDocument.getElementById(id)?.textContent ?? "");
  const labels = "labels" in element ? [...((element as HTMLInputElement).labels ?? [])] : [];
  return [
    element.getAttribute("aria-label") ?? "",
    ...named,
    ...labels.map((label) => label.textContent ?? ""),
  ].filter((label) => label !== "");
}

export function byTitle(text: Text, exact: boolean): Query {
  const matches = matcher(text, exact);
  return (root) =>
    [...root.querySelectorAll("[title]")].filter((element) => matches(element.getAttribute("title") ?? ""));
}

export function bySelector(selector: string): Query {
  // happy-dom does not match :focus in a document without the focus.
  const wantsFocus = selector.includes(":focus");
  const plain = selector.replace(":focus", "") || "*";
  return (root) =>
    [...root.querySelectorAll(plain)].filter(
      (element) => !wantsFocus || element.ownerDocument.activeElement === element,
    );
}

export function hasText(element: Element, text: Text): boolean {
  return matcher(text, false)(collapse(element.textContent ?? ""));
}

function matcher(text: Text, exact: boolean): (found: string) => boolean {
  if (text instanceof RegExp) return (found) => text.test(found);
  const wanted = collapse(text);
  if (exact) return (found) => found === wanted;
  const lower = wanted.toLowerCase();
  return (found) => found.toLowerCase().includes(lower);
}

function collapse(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

export function isDisabled(element: Element): boolean {
  return element.matches(":disabled") || element.closest("fieldset:disabled") !== null;
}

export function isVisible(element: Element): boolean {
  return !isHidden(element, new Map(), false);
}

/** Whether the element or one around it is hidden by an attribute or a Tailwind class; styles are not loaded. */
function isHidden(element: Element, known: Map<Element, boolean>, isForReaders: boolean): boolean {
  const before = known.get(element);
  if (before !== undefined) return before;
  const parent = element.parentElement;
  const answer =
    (parent === null && element.tagName !== "HTML") ||
    element.hasAttribute("hidden") ||
    (isForReaders && element.getAttribute("aria-hidden") === "true") ||
    isHiddenByStyle(element) ||
    (parent?.tagName === "DETAILS" && !parent.hasAttribute("open") && element.tagName !== "SUMMARY") ||
    (parent !== null && isHidden(parent, known, isForReaders));
  known.set(element, answer);
  return answer;
}

/** Tailwind's breakpoints, in pixels. */
const breakpoints: Record<string, number> = { sm: 640, md: 768, lg: 1024, xl: 1280, "2xl": 1536 };
const displays =
  /^(block|flex|grid|inline|inline-block|inline-flex|inline-grid|contents|table|table-cell|table-row)$/;

function isHiddenByStyle(element: Element): boolean {
  const style = element.getAttribute("style");
  if (style !== null && /(display:\s*none|visibility:\s*hidden)/.test(style)) return true;
  const classes = element.getAttribute("class");
  if (classes === null || !/hidden|invisible/.test(classes)) return false;
  const width = element.ownerDocument.defaultView?.innerWidth ?? 0;
  let isHiddenNow = false;
  let from = -1;
  for (const name of classes.split(/\s+/)) {
    const parts = name.split(":");
    const display = parts.pop() ?? "";
    if (display !== "hidden" && display !== "invisible" && !displays.test(display)) continue;
    const widths = parts.map((part) => breakpoints[part.replace("max-", "")]);
    if (widths.includes(undefined)) continue;
    const [part = ""] = parts;
    const [at = 0] = widths;
    if (part.startsWith("max-") ? width >= at : width < at) continue;
    const rank = part.startsWith("max-") ? 10_000 - at : at;
    if (rank < from) continue;
    from = rank;
    isHiddenNow = display === "hidden" || display === "invisible";
  }
  return isHiddenNow;
}
