import { type InputHTMLAttributes, useRef, useState } from "react";
import { TextInput } from "../../../ui/form/inputs.tsx";

type Rest = Omit<InputHTMLAttributes<HTMLInputElement>, "value" | "onChange" | "onBlur" | "onKeyDown">;

/** A text filter: it does not ask the server at every key. */
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

/** A text that is applied when its writer pauses or leaves. If it changes elsewhere, what stands there comes in its place. */
function useDebouncedText(value: string, apply: (text: string) => void) {
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
