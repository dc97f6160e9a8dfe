import { clsx } from "clsx";
import { CopyButton } from "../button.tsx";
import { ScrollRegion } from "../page.tsx";
import { cutBefore } from "../untrusted-text/text-ranges.ts";
import { ColoredPieces, useTokenizer } from "./highlight.tsx";
import type { Language } from "./tokenize.ts";

interface CodeBlockProps {
  code: string;
  label: string;
  /** Absent: the code is not coloured. */
  language?: Language;
}

/** Code with a button that copies it. */
export function CodeBlock({ code, label, language }: CodeBlockProps) {
  const shown = shortenLines(code);
  const tokenize = useTokenizer(language);
  return (
    <div className="min-w-0 rounded-md border border-line bg-sunken">
      <div className="flex items-start">
        <ScrollRegion
          as="pre"
          className={clsx(
            "max-h-96 min-w-0 flex-1 overflow-auto p-3 font-mono text-xs leading-5",
            // Commands wrap on a phone; other code is cut off.
            language === "shell" && "phone:wrap-anywhere phone:whitespace-pre-wrap",
          )}
        >
          <ColoredPieces text={shown} tokenize={tokenize} />
        </ScrollRegion>
        <div className="p-1.5">
          <CopyButton text={code} label={`Copy ${label}`} />
        </div>
      </div>
      {shown !== code && (
        <p className="border-t border-line px-3 py-1.5 text-xs text-ink-3">
          Long lines are cut off here. Copying takes the full text.
        </p>
      )}
    </div>
  );
}

const maxCharacters = 1_000;

/** Cuts long lines for display: browsers stop painting lines of many thousand characters. */
export function shortenLines(text: string): string {
  return text
    .split("\n")
    .map((line) => (line.length > maxCharacters ? `${line.slice(0, cutBefore(line, maxCharacters))}…` : line))
    .join("\n");
}

/** Text between backticks is code. */
export function WithCode({ text }: { text: string }) {
  return text.split("`").map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
      <code key={index} className="font-mono">
        {part}
      </code>
    ),
  );
}
