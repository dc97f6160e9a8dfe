import { useEffect, useEffectEvent } from "react";

/** J and K go to the next and the previous, wherever the keyboard is but in what takes text. */
export function useStepKeys(step: (by: 1 | -1) => void): void {
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || takesKeys(event.target))
      return;
    if (event.key === "j") step(1);
    if (event.key === "k") step(-1);
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKeyDown(event);
    window.addEventListener("keydown", listener);
    return () => window.removeEventListener("keydown", listener);
  }, []);
}

function takesKeys(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select, [role=menu]") !== null;
}
