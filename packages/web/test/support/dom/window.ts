import { runInNewContext } from "node:vm";
import {
  Element as AnyElement,
  type DetachedWindowAPI,
  HTMLElement as Elements,
  HTMLOptionElement as Options,
  Window,
} from "happy-dom";
import type { PageSettings } from "./dom-page.ts";

export type DomWindow = globalThis.Window & typeof globalThis & { happyDOM: DetachedWindowAPI };

/** Globals that scripts of a page get from Bun rather than happy-dom, for sending, receiving and scheduling. */
const ofBun = new Set([
  ...["AbortController", "AbortSignal", "Headers", "Request", "Response", "URL", "URLSearchParams"],
  ...["MessageChannel", "MessagePort", "ReadableStream", "TransformStream", "WritableStream", "crypto"],
  ...[
    "TextDecoder",
    "TextEncoder",
    "clearImmediate",
    "queueMicrotask",
    "setImmediate",
    "performance",
    "structuredClone",
  ],
]);
/** Additional names, which a window of happy-dom does not list. */
const besides = ["globalThis", "EventSource", "reportError"];

addToElements();

/** The names that a script can use in a window. */
export const windowNames: readonly string[] = findNames();

function findNames(): string[] {
  const window = new Window();
  const found = new Set(besides);
  for (let at: object | null = window; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const name of Object.getOwnPropertyNames(at)) found.add(name);
  void window.happyDOM.close();
  const ofLanguage = new Set<string>(runInNewContext("Object.getOwnPropertyNames(globalThis)"));
  ofLanguage.delete("globalThis");
  const isName = (name: string) => /^[A-Za-z]\w*$/.test(name) && name !== "constructor";
  return [...found].filter((name) => isName(name) && !ofBun.has(name) && !ofLanguage.has(name));
}

/** The window's values of these names. Functions are bound, as scripts call them without the window. */
export function windowValues(window: DomWindow): unknown[] {
  return windowNames.map((name) => {
    if (name === "globalThis") return window;
    const value: unknown = Reflect.get(window, name);
    return typeof value === "function" && /^[a-z]/.test(name) ? value.bind(window) : value;
  });
}

/** A window that has no document yet, with the features that happy-dom lacks. */
export function openWindow(url: string, { viewport, colorScheme }: PageSettings): DomWindow {
  const window = new Window({
    url,
    ...viewport,
    settings: {
      disableComputedStyleRendering: true,
      navigation: { disableMainFrameNavigation: true, disableChildFrameNavigation: true },
      device: { prefersColorScheme: colorScheme, prefersReducedMotion: "reduce" },
    },
  }) as unknown as DomWindow;
  Object.assign(window, {
    EventSource: RefusedEvents,
    ResizeObserver: NoObserver,
    IntersectionObserver: NoObserver,
  });
  return window;
}

/** Elements get the width of the window, and heights large enough to render all rows. All windows share these classes. */
function addToElements(): void {
  const width = (element: HTMLElement) => element.ownerDocument.defaultView?.innerWidth;
  const height = ({ tagName, dataset }: HTMLElement) =>
    tagName === "TR" || dataset.index !== undefined ? 40 : 2_000;
  const measures = { clientWidth: width, offsetWidth: width, clientHeight: height, offsetHeight: height };
  for (const [name, measure] of Object.entries(measures)) define(Elements, name, measure);
  for (const name of ["scrollIntoView", "scrollTo", "scrollBy"])
    Object.defineProperty(Elements.prototype, name, { value() {}, configurable: true });
  define(Options, "label", (option: HTMLOptionElement) => option.getAttribute("label") ?? option.text.trim());
  define(AnyElement, "ariaLabel", (element: Element) => element.getAttribute("aria-label"));
}

function define<Of>(
  { prototype }: { prototype: object },
  name: string,
  read: (element: Of) => unknown,
): void {
  Object.defineProperty(prototype, name, {
    get(this: Of) {
      return read(this);
    },
    configurable: true,
  });
}

/** Nothing changes its size or becomes visible by itself. */
class NoObserver {
  observe() {}
  unobserve() {}
  disconnect() {}
}

/** A stream of events that fails, so that the page polls instead. */
class RefusedEvents {
  onerror: (() => void) | undefined;
  constructor() {
    queueMicrotask(() => this.onerror?.());
  }
  addEventListener() {}
  close() {}
}
