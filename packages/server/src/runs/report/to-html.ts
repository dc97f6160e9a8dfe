import { chartSvg } from "./chart-svg.ts";
import type { ReportPart } from "./report-document.ts";
import { toLine, toLines } from "./to-plain-text.ts";

/** Nothing is loaded and nothing runs, wherever the page is opened. */
export const reportPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

const styles = `:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; overflow-wrap: anywhere; padding: 0 1rem; }
table { border-collapse: collapse; display: block; font-variant-numeric: tabular-nums; overflow-x: auto; }
th, td { border-bottom: 1px solid #8886; padding: .25rem .75rem .25rem 0; text-align: left; vertical-align: top; }
th { overflow-wrap: normal; }
td { min-width: 9em; }
td.n { min-width: 0; white-space: nowrap; }
pre { background: #8882; padding: .75rem; white-space: pre-wrap; }
figure { margin: 1rem 0; max-width: 46rem; }
svg { display: block; font-size: 13px; width: 100%; }
text { fill: currentColor; text-anchor: middle; }
text.y { text-anchor: end; }
line { stroke: #8884; }
polygon { fill: #6b63f0; fill-opacity: .25; }
polyline { fill: none; stroke: #6b63f0; stroke-width: 2; }
polyline.unchanged { stroke: #888; stroke-dasharray: 5 4; }
circle { fill: #6b63f0; }
@page { margin: 14mm; }
@media print {
  :root { color-scheme: light; print-color-adjust: exact; }
  body { font-size: 9pt; margin: 0; max-width: none; padding: 0; }
  table { display: table; width: 100%; }
  th, td { padding-right: .4rem; }
  tr, figure { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
}`;

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
    case "chart":
      return `<figure>\n<figcaption>${escapeText(part.caption)}</figcaption>\n${chartSvg(part.points)}\n</figure>`;
    case "table": {
      const heads = part.columns.map((column) => `<th scope="col">${escapeText(column)}</th>`).join("");
      const rows = part.rows.map((cells) => `<tr>${cells.map(toCell).join("")}</tr>`).join("\n");
      return `<table>\n<thead><tr>${heads}</tr></thead>\n<tbody>\n${rows}\n</tbody>\n</table>`;
    }
  }
}

/** Figures stay on one line. */
function toCell(text: string): string {
  const isFigure = /^[\d.]+( to [\d.]+)?$|^–$/.test(text);
  return `<td${isFigure ? ' class="n"' : ""}>${escapeText(text)}</td>`;
}

function escapeText(text: string): string {
  return Bun.escapeHTML(toLine(text));
}
