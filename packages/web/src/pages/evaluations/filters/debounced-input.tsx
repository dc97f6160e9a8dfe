import type { InputHTMLAttributes } from "react";
import { TextInput } from "../../../ui/form/inputs.tsx";
import { usePausedText } from "./use-debounced-text.ts";

type Rest = Omit<InputHTMLAttributes<HTMLInputElement>, "value" | "onChange" | "onBlur" | "onKeyDown">;

/** A text filter: it does not ask the server at every key. */
export function PausedInput({
  value,
  onApply,
  ...rest
}: Rest & { value: string; onApply(text: string): void }) {
  const text = usePausedText(value, onApply);
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
