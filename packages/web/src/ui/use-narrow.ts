import { useSyncExternalStore } from "react";

/** Whether the window is narrower than Tailwind’s `md`, for what CSS cannot change. */
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
