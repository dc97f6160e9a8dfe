import type { Figure } from "./figures.ts";
import type { Goal } from "./goal.ts";

export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map((_, column) => (column === 0 ? "---" : "---:")), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");

const verdict = (met: boolean | undefined): string => {
  if (met === undefined) return "not measured";
  return met ? "met" : "**missed**";
};

export const goalTable = (goals: readonly Goal[]): string =>
  table(
    ["goal", "measured", ""],
    goals.map(({ text, measured, met }) => [text, measured, verdict(met)]),
  );

export const none = "–";

const threeDigits = (value: number): string => {
  if (value >= 100) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(value >= 10 ? 1 : 2);
};

/** Three digits, with the range over the rounds if there are several. */
export const showFigure = (figure: Figure | undefined, scale = 1): string => {
  if (figure === undefined) return none;
  const middle = threeDigits(figure.median * scale);
  if (figure.least === figure.most) return middle;
  return `${middle} (${threeDigits(figure.least * scale)}–${threeDigits(figure.most * scale)})`;
};

export const showPercent = (share: number): string => `${(100 * share).toFixed(1)} %`;

export const showMegabytes = (bytes: number | undefined): string =>
  bytes === undefined ? none : (bytes / 1e6).toFixed(0);
