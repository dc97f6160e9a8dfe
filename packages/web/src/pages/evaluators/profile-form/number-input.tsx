import { useState } from "react";
import type { FieldControl } from "../../../ui/form/field.tsx";
import { TextInput } from "../../../ui/form/inputs.tsx";

interface NumberInputProps {
  control: FieldControl;
  value: unknown;
  placeholder: string;
  onChange(value: unknown): void;
}

/** Keeps unfinished input such as “0.”. Anything but a number is passed on as a string, which the server rejects. */
export function NumberInput({ control, value, placeholder, onChange }: NumberInputProps) {
  const [typed, setTyped] = useState("");
  const shown = readNumber(typed) === value ? typed : textOf(value);
  return (
    <TextInput
      {...control}
      inputMode="decimal"
      className="max-w-40 tabular-nums"
      placeholder={placeholder}
      value={shown}
      onChange={({ target }) => {
        setTyped(target.value);
        onChange(readNumber(target.value));
      }}
    />
  );
}

function readNumber(text: string): number | string | undefined {
  if (text.trim() === "") return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}

function textOf(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
