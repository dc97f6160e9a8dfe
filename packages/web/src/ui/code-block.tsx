import { CopyButton } from "./copy-button.tsx";
import { ScrollRegion } from "./scroll-region.tsx";

/** Code to copy. */
export function CodeBlock({ code, label }: { code: string; label: string }) {
  const shown = shortenLines(code);
  return (
    <div className="relative min-w-0 rounded-md border border-line bg-sunken">
      <ScrollRegion as="pre" className="max-h-96 overflow-auto p-3 pr-10 font-mono text-xs leading-5">
        {shown}
      </ScrollRegion>
      {shown !== code && (
        <p className="border-t border-line px-3 py-1.5 text-xs text-ink-3">
          Long lines are cut off here. Copying takes the full text.
        </p>
      )}
      <div className="absolute top-1.5 right-1.5 rounded-md bg-sunken">
        <CopyButton text={code} label={`Copy ${label}`} />
      </div>
    </div>
  );
}

const maxCharacters = 1_000;

/** Cuts long lines for display: browsers stop painting lines of many thousand characters. */
export function shortenLines(text: string): string {
  return text
    .split("\n")
    .map((line) => (line.length > maxCharacters ? `${line.slice(0, maxCharacters)}…` : line))
    .join("\n");
}
