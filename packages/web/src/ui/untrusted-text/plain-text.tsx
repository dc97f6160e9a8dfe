import { WrapText } from "lucide-react";
import { useMemo, useState } from "react";
import { CopyButton } from "../copy-button.tsx";
import { Segmented } from "../form/segmented.tsx";
import { IconButton } from "../icon-button.tsx";
import { formatJson } from "./json-lines.ts";
import { TextBody } from "./text-body.tsx";

interface PlainTextProps {
  text: string;
  /** For the heading and the copy button. */
  label?: string;
  /** Highlights as code point ranges; the end is exclusive. */
  positions?: readonly (readonly [number, number])[] | undefined;
  /** Prose is not monospaced. */
  isProse?: boolean;
}

const layouts = [
  { value: "json", label: "JSON" },
  { value: "text", label: "Text" },
] as const;
const noPositions: NonNullable<PlainTextProps["positions"]> = [];

/** Shows untrusted text of any length safely and unchanged. JSON can be formatted. */
export function PlainText({
  text,
  label = "Text",
  positions = noPositions,
  isProse = false,
}: PlainTextProps) {
  const [isWrapped, setWrapped] = useState(true);
  const [chosen, setLayout] = useState<"json" | "text">();
  const formatted = useMemo(() => formatJson(text), [text]);
  // Positions refer to the unformatted text.
  const layout = formatted === undefined ? "text" : (chosen ?? (positions.length > 0 ? "text" : "json"));
  return (
    <div className="min-w-0 overflow-hidden rounded-md border border-line bg-surface">
      <div className="flex min-h-9 items-center gap-1 border-b border-line bg-sunken py-0.5 pr-1 pl-3">
        <span className="min-w-0 flex-1 truncate text-xs font-medium text-ink-2">{label}</span>
        {formatted !== undefined && (
          <Segmented
            label={`Layout of ${label.toLowerCase()}`}
            value={layout}
            options={layouts}
            onChange={(next) => setLayout(next)}
          />
        )}
        <IconButton
          label="Wrap long lines"
          icon={<WrapText aria-hidden />}
          aria-pressed={isWrapped}
          className="aria-pressed:text-accent-ink"
          onClick={() => setWrapped(!isWrapped)}
        />
        <CopyButton text={text} label={`Copy ${label.toLowerCase()}`} />
      </div>
      <TextBody
        text={layout === "json" ? (formatted ?? text) : text}
        label={label}
        positions={layout === "json" ? noPositions : positions}
        isWrapped={isWrapped}
        isProse={isProse}
        language={layout === "json" ? "json" : undefined}
      />
    </div>
  );
}
