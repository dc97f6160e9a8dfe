import { useRef } from "react";

/** For a dialog without a trigger: returns the focus to the element that opened it, or to the page if that is gone. */
export function useReturnFocus() {
  const opener = useRef<Element>(null);
  return {
    onOpenAutoFocus() {
      opener.current = document.activeElement;
    },
    onCloseAutoFocus(event: Event) {
      event.preventDefault();
      const target = opener.current?.isConnected ? opener.current : document.getElementById("main");
      if (target instanceof HTMLElement) target.focus();
    },
  };
}
