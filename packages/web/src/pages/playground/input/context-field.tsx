import { ChevronRight } from "lucide-react";
import { Collapsible } from "radix-ui";
import { useId } from "react";
import { formatCount } from "../../../format/format-number.ts";
import { TextArea } from "../../../ui/form/inputs.tsx";

interface ContextFieldProps {
  label: string;
  hint: string;
  text: string;
  issue: string | undefined;
  isOpen: boolean;
  onToggle(isOpen: boolean): void;
  onChange(text: string): void;
}

/** One collapsible section of the context. */
export function ContextField({ label, hint, text, issue, isOpen, onToggle, onChange }: ContextFieldProps) {
  const noteId = useId();
  return (
    <Collapsible.Root
      open={isOpen || issue !== undefined}
      onOpenChange={onToggle}
      className="border-b border-line last:border-b-0"
    >
      <Collapsible.Trigger className="group flex min-h-9 w-full items-center gap-2 px-4 text-left -outline-offset-2 hover:bg-hover">
        <ChevronRight
          aria-hidden
          className="size-3.5 shrink-0 text-ink-3 transition-transform group-data-[state=open]:rotate-90"
        />
        <span className="shrink-0 text-sm font-medium">{label}</span>
        <span className="min-w-0 flex-1 truncate text-xs text-ink-3 group-data-[state=open]:invisible">
          {text.slice(0, 200)}
        </span>
        <CharacterCount text={text} />
      </Collapsible.Trigger>
      <Collapsible.Content className="flex flex-col gap-1 px-4 pt-0.5 pb-3">
        <p id={noteId} className={issue === undefined ? "text-xs text-ink-3" : "text-xs text-fail"}>
          {issue ?? hint}
        </p>
        <TextArea
          aria-label={label}
          aria-describedby={noteId}
          aria-invalid={issue === undefined ? undefined : true}
          value={text}
          onChange={({ target }) => onChange(target.value)}
        />
      </Collapsible.Content>
    </Collapsible.Root>
  );
}

export function CharacterCount({ text }: { text: string }) {
  if (text === "") return null;
  const words = text.length === 1 ? "1 character" : `${formatCount(text.length)} characters`;
  return <span className="shrink-0 text-xs text-ink-3 tabular-nums">{words}</span>;
}
