import { useState } from "react";
import text from "../../../../CHANGELOG.md" with { type: "text" };
import { Dialog } from "../ui/dialog.tsx";

interface ChangelogDialogProps {
  isOpen: boolean;
  onClose(): void;
  /** The server's version. */
  version: string;
}

/** The changelog that the dashboard was built with. */
export function ChangelogDialog({ isOpen, onClose, version }: ChangelogDialogProps) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="What is new"
      hint={`This server is Presage ${version}.`}
      isWide
    >
      <Versions />
    </Dialog>
  );
}

function Versions() {
  const [versions] = useState(() => readChangelog(text));
  return versions.map(({ name, date, parts }) => (
    <section key={name} aria-label={name} className="mb-6 last:mb-0">
      <h3 className="text-sm font-semibold">
        {name}
        {date !== undefined && <span className="ml-2 font-normal text-ink-3">{date}</span>}
      </h3>
      {parts.map(({ title, items }) => (
        <div key={title} className="mt-3">
          <h4 className="text-xs font-medium text-ink-3">{title}</h4>
          {items.length > 0 && (
            <ul className="mt-1 flex list-disc flex-col gap-1.5 pl-5 text-sm text-ink-2">
              {items.map((item) => (
                <li key={item} className="wrap-anywhere">
                  <WithCode text={item} />
                </li>
              ))}
            </ul>
          )}
        </div>
      ))}
    </section>
  ));
}

/** Renders text between backticks as code, and links as their text. */
function WithCode({ text }: { text: string }) {
  return text
    .replace(/\[([^\]]+)\]\([^)]+\)/g, "$1")
    .split("`")
    .map((part, index) =>
      index % 2 === 0 ? (
        part
      ) : (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text do not move
        <code key={index} className="rounded bg-sunken px-1 font-mono text-xs text-ink">
          {part}
        </code>
      ),
    );
}

interface ChangelogPart {
  /** `Added`, `Changed`, or a feature within one of these. */
  title: string;
  items: string[];
}

interface ChangelogVersion {
  /** `0.1.0`, or `Unreleased`. */
  name: string;
  /** As written in the changelog: `2026-11-22`. */
  date: string | undefined;
  parts: ChangelogPart[];
}

/** Reads a changelog in the format of keepachangelog.com. */
export function readChangelog(markdown: string): ChangelogVersion[] {
  const versions: ChangelogVersion[] = [];
  for (const line of markdown.split("\n")) {
    const heading = /^## \[([^\]]+)\](?: - (\S+))?/.exec(line);
    const version = versions.at(-1);
    const part = version?.parts.at(-1);
    if (heading) versions.push({ name: heading[1] ?? "", date: heading[2], parts: [] });
    else if (/^####? /.test(line)) version?.parts.push({ title: line.replace(/^#+/, "").trim(), items: [] });
    else if (line.startsWith("- ")) part?.items.push(line.slice(2).trim());
    else if (line.trim() !== "" && part !== undefined && part.items.length > 0)
      part.items.push(`${part.items.pop()} ${line.trim()}`);
  }
  return versions;
}
