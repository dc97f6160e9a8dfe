import type { ReportPart } from "./report-document.ts";
import { toLine, toLines } from "./to-plain-text.ts";

/** A report as Markdown with GitHub's tables. */
export function toMarkdown(parts: readonly ReportPart[]): string {
  const texts = parts.flatMap((part) => (part.kind === "chart" ? [] : toText(part)));
  return `${texts.join("\n\n")}\n`;
}

function toText(part: Exclude<ReportPart, { kind: "chart" }>): string {
  switch (part.kind) {
    case "heading":
      return `${"#".repeat(part.level)} ${escapeMarkdown(part.text)}`;
    case "paragraph":
      return escapeMarkdown(part.text);
    case "block":
      return fence(toLines(part.text));
    case "table": {
      const row = (cells: readonly string[]) => `| ${cells.map(escapeMarkdown).join(" | ")} |`;
      const rule = `|${part.columns.map(() => " --- |").join("")}`;
      return [row(part.columns), rule, ...part.rows.map(row)].join("\n");
    }
  }
}

/** Longer than every run of backticks in the text, so that no line of it ends the block. */
function fence(lines: readonly string[]): string {
  const runs = lines.flatMap((line) => line.match(/`+/g) ?? []);
  const marks = "`".repeat(Math.max(3, ...runs.map(({ length }) => length + 1)));
  return [marks, ...lines, marks].join("\n");
}

/** References to characters are never markup, whatever surrounds them: they neither end a cell nor start HTML, a link or a mention. */
function escapeMarkdown(text: string): string {
  return toLine(text).replace(markup, (marks) =>
    marks.replace(/[^\d\w ]|_/g, (mark) => `&#${mark.charCodeAt(0)};`),
  );
}

/** Marks that may mean something, but not a "<" before a space, as in "p < 0.001", the colon and dot of bare links, and what starts a list or a rule. */
const markup = /<(?! )|[!"#$&*+>?@[\\\]^_`{|}~]|:(?=\/\/)|\.(?<=www\.)|^-|^\d+[.)](?=\s|$)/gi;
