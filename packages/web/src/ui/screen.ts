// Properties of the screen or paper, for what CSS cannot change.

import { type RefObject, useEffect, useLayoutEffect, useState, useSyncExternalStore } from "react";
import { flushSync } from "react-dom";

/** Whether the window is narrower than Tailwind’s `md`. */
export function useNarrow(): boolean {
  return useSyncExternalStore(onChange, () => narrow().matches);
}

function onChange(listener: () => void): () => void {
  const query = narrow();
  query.addEventListener("change", listener);
  return () => query.removeEventListener("change", listener);
}

function narrow(): MediaQueryList {
  return matchMedia("(width < 48rem)");
}

/** Whether the page is being printed: paper shows everything that a screen shows piece by piece. */
export function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    // Immediately: the browser lays out the sheets right after the event.
    const change = ({ type }: Event) => flushSync(() => setPrinting(type === "beforeprint"));
    addEventListener("beforeprint", change);
    addEventListener("afterprint", change);
    return () => {
      removeEventListener("beforeprint", change);
      removeEventListener("afterprint", change);
    };
  }, []);
  return isPrinting;
}

export interface Size {
  width: number;
  height: number;
}

/** The size of an element in pixels, so that a drawing fits without scaling its texts. 0 by 0 until it is known. */
export function useSize(ref: RefObject<HTMLElement | null>): Size {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const measure = () => {
      const { clientWidth: width, clientHeight: height } = element;
      setSize((old) => (old.width === width && old.height === height ? old : { width, height }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);
  return size;
}
