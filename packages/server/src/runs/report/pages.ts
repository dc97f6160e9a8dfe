import { describeP } from "@presage/contract/describe-runs";
import { shortened, threeDecimals } from "../../platform/words.ts";

/** A part of a report for people. All texts are plain: the writer of the page escapes them. */
export type ReportPart =
  /** `isFolded`: on a page, everything up to the next section is folded below it. */
  | { kind: "heading"; level: 1 | 2 | 3; text: string; isFolded?: boolean }
  /** `isLead`: the conclusion of the report. */
  | { kind: "paragraph"; text: string; isLead?: boolean }
  /** With a title that is not a separate heading; many rows are folded below it. */
  | { kind: "table"; columns: readonly string[]; rows: readonly (readonly string[])[]; title?: string }
  /** Shares by step, which a table below also has. */
  | { kind: "chart"; caption: string; points: readonly ChartPoint[] }
  /** Figures with their intervals on one axis, which a table below also has. */
  | { kind: "intervals"; caption: string; axis: IntervalAxis; rows: readonly IntervalRow[] }
  /** A text of any length, with line breaks. */
  | { kind: "block"; text: string };

interface ChartPoint {
  step: number;
  share: number;
  interval: { lower: number; upper: number } | null;
  baseline: number | null;
}

/** The bounds of the values in a chart with intervals. */
export interface IntervalAxis {
  from: number;
  to: number;
  format(value: number): string;
  /** How many equal parts it is divided into. Default: 4. */
  parts?: number;
}

interface IntervalRow {
  name: string;
  value: number | null;
  interval: { lower: number; upper: number } | null;
  /** The value to compare with: a mark across the row. */
  reference?: number | null;
}

export function heading(level: 1 | 2 | 3, text: string, isFolded = false): ReportPart {
  return { kind: "heading", level, text, isFolded };
}

export function paragraph(text: string, isLead = false): ReportPart {
  return { kind: "paragraph", text, isLead };
}

export function block(text: string): ReportPart {
  return { kind: "block", text };
}

type Bounds = { lower: number; upper: number } | null;

/** 66.7 % for a share of two thirds. */
export function formatShare(value: number | null): string {
  return value === null ? "–" : `${points(value)} %`;
}

/** “60.1 to 72.4 %” */
export function formatShareInterval(bounds: Bounds): string {
  return bounds === null ? "–" : `${points(bounds.lower)} to ${points(bounds.upper)} %`;
}

/** 66.7 for a share of two thirds. */
function points(share: number): string {
  return (100 * share).toFixed(share === 0 || share === 1 ? 0 : 1);
}

/** 0.667: a mean score is not a share of anything. */
export function formatScore(value: number | null): string {
  return value === null ? "–" : threeDecimals(value);
}

export function formatScoreInterval(bounds: Bounds): string {
  return bounds === null ? "–" : `${formatScore(bounds.lower)} to ${formatScore(bounds.upper)}`;
}

/** In the form for a column of p-values. */
export function formatP(p: number | null): string {
  return p === null ? "–" : describeP(p).replace(/^p (= )?/, "");
}

/** The most rows of a long list that a page shows. */
const mostRows = 100;

/** The first rows of a table, and the number of rows that are not shown. */
export function firstRows(
  columns: readonly string[],
  rows: readonly string[][],
  { title, leftOut = 0 }: { title?: string; leftOut?: number } = {},
): ReportPart[] {
  const notShown = Math.max(0, rows.length - mostRows) + leftOut;
  return [
    { kind: "table", columns, rows: rows.slice(0, mostRows), ...(title !== undefined && { title }) },
    ...(notShown === 0 ? [] : [paragraph(`${notShown} more are not shown.`)]),
  ];
}

/** Nothing is loaded or run, wherever the page is opened. */
export const reportPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/** 2026-01-31 for an instant. */
export function dayOf(instant: string): string {
  return instant.slice(0, "2026-01-31".length);
}

/** For a page whose address is a secret. */
const secretMetas = `<meta name="robots" content="noindex, nofollow, noarchive">
<meta name="referrer" content="no-referrer">
`;

/** A report as one page without scripts, to keep or print. `shared`: its address is a secret, and this text says who shared it. */
export function toHtml(title: string, parts: readonly ReportPart[], shared?: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
${shared === undefined ? "" : secretMetas}<title>${escapeText(title)} · Presage</title>
<style>
${styles}
</style>
</head>
<body>
${shared === undefined ? "" : `<p class="by"><b>Presage</b> ${escapeText(shared)}</p>\n`}${toElements(parts).join("\n")}
</body>
</html>
`;
}

function toElements(parts: readonly ReportPart[]): string[] {
  const elements: string[] = [];
  let isOpen = false;
  for (const part of parts) {
    const isSection = part.kind === "heading" && part.level < 3;
    if (isSection && isOpen) elements.push("</details>");
    if (isSection) isOpen = part.isFolded === true;
    const element = toElement(part);
    elements.push(isSection && isOpen ? `<details>\n<summary>${element}</summary>` : element);
  }
  return isOpen ? [...elements, "</details>"] : elements;
}

function toElement(part: ReportPart): string {
  switch (part.kind) {
    case "heading":
      return `<h${part.level}>${escapeText(part.text)}</h${part.level}>`;
    case "paragraph":
      return `<p${part.isLead ? ' class="lead"' : ""}>${unbroken(escapeText(part.text))}</p>`;
    case "block":
      return `<pre>${Bun.escapeHTML(toLines(part.text).join("\n"))}</pre>`;
    case "chart":
      return toFigure(part.caption, chartSvg(part.points));
    case "intervals":
      return toFigure(part.caption, intervalsSvg(part.axis, part.rows));
    case "table": {
      const areFigures = part.columns.map((_, index) =>
        part.rows.every((cells) => figure.test(cells[index] ?? "")),
      );
      const heads = part.columns
        .map(
          (column, at) => `<th scope="col"${areFigures[at] ? ' class="n"' : ""}>${escapeText(column)}</th>`,
        )
        .join("");
      const labels = part.columns.map(escapeText);
      const rows = part.rows.map(
        (cells) =>
          `<tr>${cells.map((text, at) => toCell(text, areFigures[at] === true, labels[at])).join("")}</tr>`,
      );
      const table = `<div>\n<table${labels.length > mostBesideEachOther ? ' class="wide"' : ""}>\n<thead><tr>${heads}</tr></thead>\n<tbody>\n${rows.join("\n")}\n</tbody>\n</table>\n</div>`;
      if (part.title === undefined) return table;
      const title = escapeText(part.title);
      if (rows.length <= mostUnfolded) return `<h3>${title}</h3>\n${table}`;
      return `<details>\n<summary>${title} <small>${rows.length} rows</small></summary>\n${table}\n</details>`;
    }
  }
}

/** Longer tables with a title are folded. */
const mostUnfolded = 5;

function toFigure(caption: string, svg: string): string {
  return `<figure>\n<figcaption>${unbroken(escapeText(caption))}</figcaption>\n${svg}\n</figure>`;
}

/** Columns of figures and empty cells stay on one line, take no more room than they need, and end at the right. */
const figure = /^[-+−\d.,/%\s]*( (to|of) [-+−\d.]+( %)?)?$|^(.|reference)$|^< [\d.]+$/;

/** On a phone, the cells of rows with more are shown below each other, each with its heading. */
const mostBesideEachOther = 3;

function toCell(text: string, isFigure: boolean, label = ""): string {
  const look = isFigure ? ' class="n"' : "";
  return `<td${look}${label === "" ? "" : ` data-label="${label}"`}>${escapeText(text)}</td>`;
}

/** Keeps an interval's level on one line. */
function unbroken(text: string): string {
  return text.replaceAll("95 %", "95\u00a0%");
}

function escapeText(text: string): string {
  return Bun.escapeHTML(toLine(text));
}

/** A report as Markdown with GitHub's tables. */
export function toMarkdown(parts: readonly ReportPart[]): string {
  const texts = parts.flatMap((part) =>
    part.kind === "chart" || part.kind === "intervals" ? [] : toText(part),
  );
  return `${texts.join("\n\n")}\n`;
}

function toText(part: Exclude<ReportPart, { kind: "chart" | "intervals" }>): string {
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
      const table = [row(part.columns), rule, ...part.rows.map(row)].join("\n");
      return part.title === undefined ? table : `### ${escapeMarkdown(part.title)}\n\n${table}`;
    }
  }
}

/** A fence longer than every run of backticks in the text, so that no line of the text ends the block. */
function fence(lines: readonly string[]): string {
  const runs = lines.flatMap((line) => line.match(/`+/g) ?? []);
  const marks = "`".repeat(Math.max(3, ...runs.map(({ length }) => length + 1)));
  return [marks, ...lines, marks].join("\n");
}

/** Character references are never markup, whatever surrounds them: they neither end a cell nor start HTML, a link or a mention. */
function escapeMarkdown(text: string): string {
  return toLine(text).replace(markup, (marks) =>
    marks.replace(/[^\d\w ]|_/g, (mark) => `&#${mark.charCodeAt(0)};`),
  );
}

/** Marks that may have a meaning, but not a "<" before a space, as in "p < 0.001", the colon and dot of bare links, and list or rule starts. */
const markup = /<(?! )|[!"#$&*+>?@[\\\]^_`{|}~]|:(?=\/\/)|\.(?<=www\.)|^-|^\d+[.)](?=\s|$)/gi;

const styles = `:root { color-scheme: light dark; --quiet: color-mix(in srgb, CanvasText 68%, Canvas); }
body { font: 15px/1.5 "Inter Variable", Inter, ui-sans-serif, system-ui, sans-serif; margin: 2rem auto; max-width: 64rem; overflow-wrap: anywhere; padding: 0 1rem; }
div { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
table.wide { width: 100%; }
th, td { border-bottom: 1px solid #8886; padding: .25rem 1rem .25rem 0; text-align: left; vertical-align: top; }
th { color: var(--quiet); font-size: .85em; font-weight: 500; overflow-wrap: normal; vertical-align: bottom; }
p { max-width: 54rem; text-wrap: pretty; }
p.by { border-bottom: 1px solid #8886; color: var(--quiet); font-size: .9em; margin-bottom: 1.5rem; max-width: none; padding-bottom: .5rem; }
p.by b { color: CanvasText; margin-right: .5rem; }
summary { border-bottom: 1px solid #8886; cursor: pointer; font-size: 1.05em; font-weight: 600; padding: .5rem 0; }
summary h2 { display: inline; font-size: inherit; }
summary small { color: var(--quiet); font-weight: 400; }
h1 { font-size: 1.6rem; }
h2 { font-size: 1.2rem; margin-top: 2rem; }
h1 + p, figcaption { color: var(--quiet); }
h1 + p { margin-top: -.5rem; }
p.lead { border-left: 3px solid #6b63f0; font-size: 1.1rem; font-weight: 600; padding-left: .75rem; }
td { min-width: 6em; }
table.wide td:first-child:not(.n) { min-width: 9em; }
td.n { min-width: 0; white-space: nowrap; }
@media print, (min-width: 40rem) { .n:not(:first-child) { text-align: right; } }
pre { background: #8882; font-family: "JetBrains Mono Variable", ui-monospace, monospace; padding: .75rem; white-space: pre-wrap; }
figure { margin: 1rem 0; max-width: 54rem; }
svg { display: block; font-size: 13px; overflow: visible; width: 100%; }
@media screen and (max-width: 40rem) {
  svg { font-size: 22px; }
  td { min-width: 0; }
  table.wide thead { clip-path: inset(50%); position: absolute; }
  table.wide tr { border-bottom: 1px solid #8886; display: flex; flex-wrap: wrap; padding: .35rem 0; }
  table.wide td { border: 0; padding-block: 0; }
  table.wide td:empty { display: none; }
  table.wide td[data-label]::before { color: var(--quiet); content: attr(data-label) " "; font-size: .85em; }
  table.wide td:first-child { flex-basis: 100%; font-weight: 600; }
  table.wide td:first-child::before { font-weight: 400; }
}
text { fill: currentColor; text-anchor: middle; }
text.y { text-anchor: end; }
text.name { text-anchor: start; }
line { stroke: #8884; }
line.interval { stroke: #6b63f0; stroke-width: 2; }
line.reference { stroke: #888; stroke-width: 2; }
polygon { fill: #6b63f0; fill-opacity: .25; }
polyline { fill: none; stroke: #6b63f0; stroke-width: 2; }
polyline.unchanged { stroke: #888; stroke-dasharray: 5 4; }
circle { fill: #6b63f0; }
@page { margin: 14mm; }
@media print {
  :root { color-scheme: light; print-color-adjust: exact; }
  body { font-size: 9pt; margin: 0; max-width: none; padding: 0; }
  div { overflow: visible; }
  details::details-content { content-visibility: visible; }
  table { width: 100%; }
  table.wide { font-size: 7.5pt; }
  table.wide td:not(:first-child) { overflow-wrap: normal; }
  th, td { padding-right: .4rem; }
  tr, p, figure, h3 + div { break-inside: avoid; }
  td { min-width: 0; }
  summary { list-style: none; }
  h2, h3, summary, figure:has(+ div), p:has(+ pre) { break-after: avoid; }
}`;

/** Control characters and marks that reverse the direction of text: they would hide its content or end its line. */
const hidden = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** A text on one line, to be shown within others. */
function toLine(text: string): string {
  return text.replace(/\s+/g, " ").replace(hidden, "\ufffd").toWellFormed();
}

/** The lines of a text. */
function toLines(text: string): string[] {
  return text
    .split(/\r\n|[\n\r]/)
    .map((line) => line.replace(/\t/g, "  ").replace(hidden, "\ufffd").toWellFormed());
}

const chartArea = { left: 48, right: 668, top: 10, bottom: 190 };
const mostTicks = 10;
const mostDots = 60;

/** Shares by step as a picture, whose only texts are numbers. */
function chartSvg(points: readonly ChartPoint[]): string {
  const first = points[0]?.step ?? 0;
  const span = Math.max(1, (points.at(-1)?.step ?? 0) - first);
  const x = (step: number) =>
    (chartArea.left + ((step - first) / span) * (chartArea.right - chartArea.left)).toFixed(1);
  const y = (share: number) => (chartArea.bottom - share * (chartArea.bottom - chartArea.top)).toFixed(1);
  const at = (step: number, share: number) => `${x(step)},${y(share)}`;
  const known = points.flatMap(({ step, interval }) => (interval === null ? [] : { step, ...interval }));
  const upper = known.map((one) => at(one.step, one.upper));
  const lower = known.map((one) => at(one.step, one.lower)).reverse();
  const unchanged = points.flatMap(({ step, baseline }) => (baseline === null ? [] : at(step, baseline)));
  const ticks = Array.from(
    { length: mostTicks + 1 },
    (_, index) => first + Math.round((span * index) / mostTicks),
  );
  return [
    `<svg viewBox="0 0 ${chartArea.right + 12} ${chartArea.bottom + 48}" aria-hidden="true">`,
    ...[0, 0.25, 0.5, 0.75, 1].map(
      (share) =>
        `<line x1="${chartArea.left}" x2="${chartArea.right}" y1="${y(share)}" y2="${y(share)}"/><text class="y" x="${chartArea.left - 6}" y="${y(share)}" dy=".35em">${100 * share} %</text>`,
    ),
    ...Array.from(
      new Set(ticks),
      (step) => `<text x="${x(step)}" y="${chartArea.bottom + 18}">${step}</text>`,
    ),
    `<text x="${x(first + span / 2)}" y="${chartArea.bottom + 40}">Step</text>`,
    `<polygon points="${[...upper, ...lower].join(" ")}"/>`,
    ...(unchanged.length === 0 ? [] : [`<polyline class="unchanged" points="${unchanged.join(" ")}"/>`]),
    `<polyline points="${points.map(({ step, share }) => at(step, share)).join(" ")}"/>`,
    ...(points.length > mostDots ? [] : points).map(
      ({ step, share }) => `<circle cx="${x(step)}" cy="${y(share)}" r="2.5"/>`,
    ),
    "</svg>",
  ].join("\n");
}

/** Each name is above its line. */
const axisRow = { height: 48, line: 36, left: 28, right: 668, top: 4 };

/** The most characters of a name; the table has all of it. */
const mostNameCharacters = 52;

/** Values with intervals, one below the other, on one axis. */
function intervalsSvg({ from, to, format, parts = 4 }: IntervalAxis, rows: readonly IntervalRow[]): string {
  const bottom = axisRow.top + rows.length * axisRow.height;
  const x = (value: number) => {
    const share = (Math.min(to, Math.max(from, value)) - from) / (to - from);
    return (axisRow.left + share * (axisRow.right - axisRow.left)).toFixed(1);
  };
  const ticks = Array.from({ length: parts + 1 }, (_, index) => from + ((to - from) * index) / parts);
  return [
    `<svg viewBox="0 0 ${axisRow.right + 28} ${bottom + 28}" aria-hidden="true">`,
    ...ticks.map((tick) => `<text x="${x(tick)}" y="${bottom + 20}">${escapeText(format(tick))}</text>`),
    ...rows.flatMap(({ name, value, interval, reference = null }, index) => {
      const y = axisRow.top + index * axisRow.height + axisRow.line;
      const cut = name.length > mostNameCharacters ? shortened(name, mostNameCharacters - 1) : name;
      return [
        `<text class="name" x="${axisRow.left}" y="${y - 16}">${escapeText(cut)}</text>`,
        ...ticks.map((tick) => `<line x1="${x(tick)}" x2="${x(tick)}" y1="${y - 8}" y2="${y + 12}"/>`),
        ...(interval === null
          ? []
          : [
              `<line class="interval" x1="${x(interval.lower)}" x2="${x(interval.upper)}" y1="${y}" y2="${y}"/>`,
            ]),
        ...(reference === null
          ? []
          : [
              `<line class="reference" x1="${x(reference)}" x2="${x(reference)}" y1="${y - 8}" y2="${y + 8}"/>`,
            ]),
        ...(value === null ? [] : [`<circle cx="${x(value)}" cy="${y}" r="4"/>`]),
      ];
    }),
    "</svg>",
  ].join("\n");
}
