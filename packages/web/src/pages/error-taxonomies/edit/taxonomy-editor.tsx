import { otherFields } from "@presage/contract/read-taxonomy";
import { IndentDecrease, IndentIncrease } from "lucide-react";
import { type KeyboardEvent, useRef, useState } from "react";
import { counted } from "../../../format/numbers.ts";
import { IconButton } from "../../../ui/button.tsx";
import { Segmented } from "../../../ui/form/choices.tsx";
import { Field, type FieldControl } from "../../../ui/form/fields.tsx";
import { parseJson } from "../../../ui/form/form.tsx";
import { TextArea } from "../../../ui/form/inputs.tsx";
import { ScrollRegion } from "../../../ui/page.tsx";
import { TaxonomyTree } from "../tree/taxonomy-tree.tsx";
import { countLeaves } from "../tree/tree-nodes.ts";
import { readTree, switchSide, type TreeDraft } from "./tree-draft.ts";

interface TaxonomyEditorProps {
  draft: TreeDraft;
  /** The server's error about the tree. */
  issue: string | undefined;
  onChange(part: Partial<TreeDraft>): void;
}

const outlineHint =
  "One category or kind of error per line, as “name: description”. Indent by two spaces for each level.";

/** Edits a tree as an outline or as JSON, with a preview. */
export function TaxonomyEditor({ draft, issue, onChange }: TaxonomyEditorProps) {
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const { nodes, issues } = readTree(draft);
  const shownIssue = issues.length > 0 ? issues.slice(0, 3).join(" ") : issue;
  const leaves = countLeaves(nodes);
  return (
    <section aria-label="Tree" className="flex min-w-0 flex-col gap-3 rounded-lg border border-line p-4">
      <header className="flex items-center justify-between gap-2">
        <h3 className="text-sm font-semibold">Tree</h3>
        <Segmented
          label="Edit the tree as"
          value={draft.side === "json" ? "json" : "outline"}
          options={[
            { value: "outline", label: "Outline" },
            { value: "json", label: "JSON" },
          ]}
          onChange={(side) => onChange(switchSide(draft, side))}
        />
      </header>
      <div className="grid min-w-0 gap-4 md:grid-cols-2">
        <Field
          label={draft.side === "json" ? "Tree as JSON" : "Outline"}
          hint={draft.side === "json" ? <JsonHint text={draft.json} /> : outlineHint}
          issue={shownIssue}
        >
          {(control) =>
            draft.side === "json" ? (
              <TextArea
                {...control}
                className="max-h-96! min-h-64!"
                value={draft.json}
                onChange={({ target }) => onChange({ json: target.value })}
              />
            ) : (
              <OutlineInput
                control={control}
                value={draft.outline}
                onChange={(outline) => onChange({ outline })}
              />
            )
          }
        </Field>
        <div className="flex min-w-0 flex-col gap-1">
          <h4 className="text-sm font-medium">
            Preview <span className="font-normal text-ink-3">{counted(leaves, "kind")} of error</span>
          </h4>
          <ScrollRegion
            label="Preview of the tree"
            className="max-h-96 min-h-64 overflow-y-auto rounded-md border border-line bg-canvas"
          >
            {nodes.length === 0 ? (
              <p className="p-3 text-sm text-ink-3">Nothing yet.</p>
            ) : (
              <TaxonomyTree nodes={nodes} collapsed={collapsed} onCollapse={setCollapsed} />
            )}
          </ScrollRegion>
        </div>
      </div>
    </section>
  );
}

function JsonHint({ text }: { text: string }) {
  const parsed = parseJson(text);
  const others = "value" in parsed ? otherFields(parsed.value) : [];
  if (others.length === 0) return "Nodes have a name, an optional description, and children.";
  return `The outline cannot hold ${others.slice(0, 5).join(", ")}: editing it removes them.`;
}

interface OutlineInputProps {
  control: FieldControl;
  value: string;
  onChange(value: string): void;
}

/** A text after an edit, and its selection. */
interface Edit {
  text: string;
  start: number;
  end: number;
}

/** An outline editor: Enter keeps the indentation, and selected lines are indented together. */
function OutlineInput({ control, value, onChange }: OutlineInputProps) {
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

const step = "  ";

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

/** Inserts a line break that keeps the indentation. */
export function continueLine(text: string, start: number, end: number): Edit {
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const [indent = ""] = /^[ \t]*/.exec(text.slice(lineStart, start)) ?? [];
  const caret = start + 1 + indent.length;
  return { text: `${text.slice(0, start)}\n${indent}${text.slice(end)}`, start: caret, end: caret };
}
