import type { DatasetSample } from "@presage/sdk";
import { ChevronRight } from "lucide-react";
import { formatCount } from "../../format/numbers.ts";
import { humanizeName } from "../../format/words.ts";
import { PlainText } from "../untrusted-text/plain-text.tsx";

/** What the model is told besides state and action: the context, or the conversation so far. Closed at first, as steps share it. */
export function SampleBackground({ sample: { context, messages = [] } }: { sample: DatasetSample }) {
  const parts = Object.entries(context ?? {}).flatMap(([name, text]) =>
    typeof text === "string" ? [{ key: name, label: humanizeName(name), text }] : [],
  );
  const turns = messages.map(({ role, content }, index) => ({
    key: `${index}`,
    label: `${index + 1}. ${role}`,
    text: content,
  }));
  const shown = [...parts, ...turns];
  if (shown.length === 0) return null;
  const characters = shown.reduce((sum, { text }) => sum + text.length, 0);
  return (
    <details className="group rounded-md border border-line">
      <summary className="flex cursor-pointer list-none items-center gap-1.5 rounded-md px-3 py-2 text-sm font-medium hover:bg-hover">
        <ChevronRight className="size-4 text-ink-3 transition-transform group-open:rotate-90" aria-hidden />
        {parts.length > 0 ? "Context" : "Conversation"}
        <span className="text-xs font-normal text-ink-3">{formatCount(characters)} characters</span>
      </summary>
      <div className="flex flex-col gap-3 border-t border-line p-3">
        {shown.map(({ key, label, text }) => (
          <PlainText key={key} text={text} label={label} />
        ))}
      </div>
    </details>
  );
}
