import { IndentDecrease, IndentIncrease } from "lucide-react";
import { type KeyboardEvent, useRef } from "react";
import type { FieldControl } from "../../../ui/form/field.tsx";
import { TextArea } from "../../../ui/form/inputs.tsx";
import { IconButton } from "../../../ui/icon-button.tsx";

/** A text after an edit, and its selection. */
export interface Edit {
  text: string;
  start: number;
  end: number;
}

const step = "  ";

/** Inserts a line break that keeps the indentation. */
export function continueLine(text: string, start: number, end: number): Edit {
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const [indent = ""] = /^[ \t]*/.exec(text.slice(lineStart, start)) ?? [];
  const caret = start + 1 + indent.length;
  return { text: `${text.slice(0, start)}\n${indent}${text.slice(end)}`, start: caret, end: caret };
}

/** Indents or outdents all lines of a selection. */
export function shiftLines(text: string, start: number, end: number, direction: "in" | "out"): Edit {
  const from = text.lastIndexOf("\n", start - 1) + 1;
  const nextBreak = text.indexOf("\n", end);
  const to = nextBreak === -1 ? text.length : nextBreak;
  const lines = text.slice(from, to).split("\n");
  const shifted = lines.map((line) => (direction === "in" ? step + line : line.replace(/^( {1,2}|\t)/, "")));
  const moved = shifted.join("\n");
  const ofFirst = (shifted[0]?.length ?? 0) - (lines[0]?.length ?? 0);
  return {
    text: text.slice(0, from) + moved + text.slice(to),
    start: Math.max(from, start + ofFirst),
    end: Math.max(from, end + moved.length - (to - from)),
  };
}

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
