import { useLayoutEffect, useRef } from "react";
import { useShortcut } from "../shortcuts/use-shortcut.ts";

const group = "Steps";

/** J and K go to the next and the previous step, Home and End to the first and the last. */
export function useStepKeys(
  steps: readonly number[],
  current: number | undefined,
  open: (step: number) => void,
): void {
  const index = current === undefined ? -1 : steps.indexOf(current);
  // Where the last key led: the next one may come before that is drawn.
  const reached = useRef(index);
  useLayoutEffect(() => {
    reached.current = index;
  }, [index]);
  const openAt = (at: number) => {
    const step = steps[at];
    if (step === undefined || at === reached.current) return;
    reached.current = at;
    open(step);
  };
  const last = steps.length - 1;
  useShortcut({
    keys: "j",
    label: "Next step",
    group,
    run: () => openAt(Math.min(reached.current + 1, last)),
  });
  useShortcut({
    keys: "k",
    label: "Previous step",
    group,
    run: () => openAt(Math.max(reached.current - 1, 0)),
  });
  useShortcut({ keys: "Home", label: "First step", group, run: () => openAt(0) });
  useShortcut({ keys: "End", label: "Last step", group, run: () => openAt(last) });
}
