import { useState } from "react";
import { TextInput } from "../../../ui/form/inputs.tsx";

interface TextFilterProps {
  label: string;
  value: string | undefined;
  onApply(text: string | undefined): void;
}

/** A filter by an exact text, applied with Enter or on leaving the field. */
export function TextFilter({ label, value = "", onApply }: TextFilterProps) {
  const [state, setState] = useState({ typed: value, seen: value });
  // The address changed elsewhere.
  if (value !== state.seen) setState({ typed: value, seen: value });
  const apply = () => {
    const text = state.typed.trim();
    if (text !== value) onApply(text === "" ? undefined : text);
  };
  return (
    <TextInput
      aria-label={label}
      placeholder={label}
      className="w-36!"
      value={state.typed}
      onChange={({ target }) => setState({ ...state, typed: target.value })}
      onBlur={apply}
      onKeyDown={({ key }) => key === "Enter" && apply()}
    />
  );
}
