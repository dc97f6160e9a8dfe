import type { ReportPart } from "./report-document.ts";
import { toLine, toLines } from "./to-plain-text.ts";

/** Nothing is loaded and nothing runs, wherever the page is opened. */
export const reportPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

const styles = `:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
table { border-collapse: collapse; display: block; font-variant-numeric: tabular-nums; overflow-x: auto; }
th, td { border-bottom: 1px solid #8886; overflow-wrap: anywhere; padding: .25rem .75rem .25rem 0; text-align: left; vertical-align: top; }
pre { background: #8882; overflow-x: auto; padding: .75rem; white-space: pre-wrap; }`;

/** A report as one page without scripts, to be kept or printed. */
export function toHtml(title: string, parts: readonly ReportPart[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeText(title)} · Presage</title>
<style>
${styles}
</style>
</head>
<body>
${parts.map(toElement).join("\n")}
</body>
</html>
`;
}

function toElement(part: ReportPart): string {
  switch (part.kind) {
    case "heading":
      return `<h${part.level}>${escapeText(part.text)}</h${part.level}>`;
    case "paragraph":
      return `<p>${escapeText(part.text)}</p>`;
    case "block":
      return `<pre>${Bun.escapeHTML(toLines(part.text).join("\n"))}</pre>`;
    case "table": {
      const row = (cells: readonly string[], name: "td" | "th") =>
        `<tr>${cells.map((cell) => `<${name}>${escapeText(cell)}</${name}>`).join("")}</tr>`;
      return `<table>\n<thead>${row(part.columns, "th")}</thead>\n<tbody>\n${part.rows.map((cells) => row(cells, "td")).join("\n")}\n</tbody>\n</table>`;
    }
  }
}

function escapeText(text: string): string {
  return Bun.escapeHTML(toLine(text));
}
