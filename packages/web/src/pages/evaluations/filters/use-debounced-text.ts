import { useRef, useState } from "react";

const pauseMs = 500;

/** A text that is applied when its writer pauses or leaves. If it changes elsewhere, what stands there comes in its place. */
export function usePausedText(value: string, apply: (text: string) => void) {
  const [draft, setDraft] = useState(value);
  const [seen, setSeen] = useState(value);
  const [applied, setApplied] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  if (value !== seen) {
    setSeen(value);
    // What was applied here comes back; its writer may be further by now.
    if (value !== applied) setDraft(value);
    setApplied(value);
  }

  function applyNow(text: string): void {
    clearTimeout(timer.current);
    const wanted = text.trim();
    if (wanted === value) return;
    setApplied(wanted);
    apply(wanted);
  }

  return {
    value: draft,
    onChange(text: string) {
      setDraft(text);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => applyNow(text), pauseMs);
    },
    onLeave: () => applyNow(draft),
  };
}
