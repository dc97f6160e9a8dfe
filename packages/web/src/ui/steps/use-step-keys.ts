import { useShortcut } from "../shortcuts/use-shortcut.ts";

const group = "Steps";

/** J and K go to the next and the previous step, Home and End to the first and the last. */
export function useStepKeys(
  steps: readonly number[],
  current: number | undefined,
  open: (step: number) => void,
): void {
  const index = current === undefined ? -1 : steps.indexOf(current);
  const openAt = (at: number) => {
    const step = steps.at(at);
    if (step !== undefined && step !== current) open(step);
  };
  useShortcut({
    keys: "j",
    label: "Next step",
    group,
    run: () => openAt(Math.min(index + 1, steps.length - 1)),
  });
  useShortcut({ keys: "k", label: "Previous step", group, run: () => openAt(Math.max(index - 1, 0)) });
  useShortcut({ keys: "Home", label: "First step", group, run: () => openAt(0) });
  useShortcut({ keys: "End", label: "Last step", group, run: () => openAt(-1) });
}
