export interface ChangelogPart {
  /** `Added`, `Changed`. */
  title: string;
  items: string[];
}

export interface ChangelogVersion {
  /** `0.1.0`, or `Unreleased`. */
  name: string;
  /** As written: `2026-11-22`. */
  date: string | undefined;
  parts: ChangelogPart[];
}

/** Reads a changelog as keepachangelog.com has it. */
export function readChangelog(markdown: string): ChangelogVersion[] {
  const versions: ChangelogVersion[] = [];
  for (const line of markdown.split("\n")) {
    const heading = /^## \[([^\]]+)\](?: - (\S+))?/.exec(line);
    const version = versions.at(-1);
    const part = version?.parts.at(-1);
    if (heading) versions.push({ name: heading[1] ?? "", date: heading[2], parts: [] });
    else if (line.startsWith("### ")) version?.parts.push({ title: line.slice(4).trim(), items: [] });
    else if (line.startsWith("- ")) part?.items.push(line.slice(2).trim());
    else if (line.trim() !== "" && part !== undefined && part.items.length > 0)
      part.items.push(`${part.items.pop()} ${line.trim()}`);
  }
  return versions;
}
