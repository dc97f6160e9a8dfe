import { IndentDecrease, IndentIncrease } from "lucide-react";
import { type KeyboardEvent, useRef } from "react";
import type { FieldControl } from "../../../ui/form/field.tsx";
import { TextArea } from "../../../ui/form/inputs.tsx";
import { IconButton } from "../../../ui/icon-button.tsx";
import { continueLine, type Edit, shiftLines } from "./outline-edits.ts";

interface OutlineInputProps {
  control: FieldControl;
  value: string;
  onChange(value: string): void;
}

/** An outline editor: Enter keeps the indentation, and selected lines are indented together. */
export function OutlineInput({ control, value, onChange }: OutlineInputProps) {
  const input = useRef<HTMLTextAreaElement>(null);

  function apply(edit: (area: HTMLTextAreaElement) => Edit) {
    const area = input.current;
    if (area === null) return;
    const { text, start, end } = edit(area);
    replaceText(area, text);
    area.setSelectionRange(start, end);
  }
  const shift = (direction: "in" | "out") =>
    apply(({ value, selectionStart, selectionEnd }) =>
      shiftLines(value, selectionStart, selectionEnd, direction),
    );

  function onKeyDown(event: KeyboardEvent) {
    const isCommand = event.ctrlKey || event.metaKey;
    if (event.key === "Enter" && !isCommand && !event.nativeEvent.isComposing) {
      event.preventDefault();
      apply(({ value, selectionStart, selectionEnd }) => continueLine(value, selectionStart, selectionEnd));
    } else if (isCommand && (event.key === "]" || event.key === "[")) {
      event.preventDefault();
      shift(event.key === "]" ? "in" : "out");
    }
  }

  return (
    <div className="flex min-w-0 flex-col gap-1">
      <TextArea
        {...control}
        ref={input}
        className="max-h-96! min-h-64! whitespace-pre"
        value={value}
        onKeyDown={onKeyDown}
        onChange={({ target }) => onChange(target.value)}
      />
      <div className="flex gap-1">
        <IconButton
          label="Outdent (Ctrl [)"
          icon={<IndentDecrease aria-hidden />}
          onClick={() => shift("out")}
        />
        <IconButton
          label="Indent (Ctrl ])"
          icon={<IndentIncrease aria-hidden />}
          onClick={() => shift("in")}
        />
      </div>
    </div>
  );
}

/** Replaces the text as if it had been typed, so that it can be undone and fires input events. */
function replaceText(area: HTMLTextAreaElement, text: string): void {
  const { value } = area;
  if (text === value) return;
  let from = 0;
  while (from < text.length && text[from] === value[from]) from += 1;
  let behind = 0;
  const most = Math.min(text.length, value.length) - from;
  while (behind < most && text.at(-1 - behind) === value.at(-1 - behind)) behind += 1;
  const inserted = text.slice(from, text.length - behind);
  area.focus();
  area.setSelectionRange(from, value.length - behind);
  // Deprecated, but nothing else keeps the browser's undo history.
  if (inserted === "") document.execCommand("delete");
  else document.execCommand("insertText", false, inserted);
}
