import { type InputHTMLAttributes, useRef, useState } from "react";
import { TextInput } from "../../../ui/form/inputs.tsx";

type Rest = Omit<InputHTMLAttributes<HTMLInputElement>, "value" | "onChange" | "onBlur" | "onKeyDown">;

/** A text filter that does not query the server on every keystroke. */
export function DebouncedInput({
  value,
  onApply,
  ...rest
}: Rest & { value: string; onApply(text: string): void }) {
  const text = useDebouncedText(value, onApply);
  return (
    <TextInput
      {...rest}
      value={text.value}
      onChange={(event) => text.onChange(event.target.value)}
      onBlur={text.onLeave}
      onKeyDown={(event) => event.key === "Enter" && text.onLeave()}
    />
  );
}

const pauseMs = 500;

/** A text that is applied when the user pauses or leaves. A change from elsewhere replaces it. */
function useDebouncedText(value: string, apply: (text: string) => void) {
  const [draft, setDraft] = useState(value);
  const [seen, setSeen] = useState(value);
  const [applied, setApplied] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  if (value !== seen) {
    setSeen(value);
    // Ignore the echo of our own change: the user may have typed more by now.
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
