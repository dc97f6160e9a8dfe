import { useState } from "react";
import type { FieldControl } from "../../../ui/form/field.tsx";
import { TextInput } from "../../../ui/form/inputs.tsx";

interface TextFilterProps {
  /** What connects it to its label. */
  control: FieldControl;
  value: string | undefined;
  onApply(text: string | undefined): void;
}

/** A filter by an exact text, applied with Enter or on leaving the field. */
export function TextFilter({ control, value = "", onApply }: TextFilterProps) {
  const [state, setState] = useState({ typed: value, seen: value });
  // The address changed elsewhere.
  if (value !== state.seen) setState({ typed: value, seen: value });
  const apply = () => {
    const text = state.typed.trim();
    if (text !== value) onApply(text === "" ? undefined : text);
  };
  return (
    <TextInput
      {...control}
      value={state.typed}
      onChange={({ target }) => setState({ ...state, typed: target.value })}
      onBlur={apply}
      onKeyDown={({ key }) => key === "Enter" && apply()}
    />
  );
}
