import { useEffect, useState } from "react";
import { flushSync } from "react-dom";

/** Whether the page is being printed: what a screen shows piece by piece is all there on paper. */
export function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    // At once: the browser lays out the sheets right after the event.
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
