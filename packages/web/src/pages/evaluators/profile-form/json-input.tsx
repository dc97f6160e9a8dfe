import { useState } from "react";
import type { FieldControl } from "../../../ui/form/field.tsx";
import { TextArea } from "../../../ui/form/inputs.tsx";
import { parseJson } from "../../../ui/form/parse-json.ts";

interface JsonInputProps {
  control: FieldControl;
  value: unknown;
  onChange(value: unknown): void;
}

/** Edits a value as JSON. Invalid JSON is passed on as a string, which the server rejects. */
export function JsonInput({ control, value, onChange }: JsonInputProps) {
  const [typed, setTyped] = useState(textOf(value));
  const shown = textOf(readValue(typed)) === textOf(value) ? typed : textOf(value);
  return (
    <TextArea
      {...control}
      className="min-h-32!"
      placeholder="{ }"
      value={shown}
      onChange={({ target }) => {
        setTyped(target.value);
        onChange(readValue(target.value));
      }}
    />
  );
}

function readValue(text: string): unknown {
  if (text.trim() === "") return undefined;
  const parsed = parseJson(text);
  return "value" in parsed ? parsed.value : text;
}

function textOf(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
