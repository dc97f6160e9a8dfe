import { diffArrays } from "diff";
import { compareWords } from "./compare-words.ts";
import { type LinePart, linePart, shorten } from "./line-part.ts";

export interface ComparedLine {
  /** Its number, from 1. */
  line: number;
  parts: LinePart[];
}

/** An equal line, or a changed, added or removed one. */
export type DifferenceRow =
  | { kind: "equal"; before: number; after: number; parts: LinePart[] }
  | { kind: "changed"; before?: ComparedLine; after?: ComparedLine };

const linesBudgetMs = 150;
const wordsBudgetMs = 100;
const maxEdits = 4_000;

/** Undefined if the texts differ too much to compare them in time. */
export function compareLines(
  before: readonly string[],
  after: readonly string[],
  isSame: (one: string, other: string) => boolean = Object.is,
): DifferenceRow[] | undefined {
  const changes = diffArrays([...before], [...after], {
    timeout: linesBudgetMs,
    maxEditLength: maxEdits,
    comparator: isSame,
  });
  if (changes === undefined) return undefined;
  const wordsUntilMs = performance.now() + wordsBudgetMs;
  const rows: DifferenceRow[] = [];
  let beforeLine = 1;
  let afterLine = 1;
  for (let index = 0; index < changes.length; index += 1) {
    const change = changes[index];
    if (change === undefined) break;
    if (!change.added && !change.removed) {
      for (const text of change.value) {
        rows.push({
          kind: "equal",
          before: beforeLine++,
          after: afterLine++,
          parts: shorten([linePart(text)]),
        });
      }
      continue;
    }
    const next = changes[index + 1];
    // Removed lines are followed by the lines that replace them.
    const isPair = change.removed && next?.added === true;
    const removed = change.removed ? change.value : [];
    const added = isPair ? next.value : change.added ? change.value : [];
    if (isPair) index += 1;
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1) {
      rows.push(toRow(removed[index], added[index]));
    }
  }
  return rows;

  function toRow(before: string | undefined, after: string | undefined): DifferenceRow {
    if (before !== undefined && after !== undefined) {
      const compared = compareWords(before, after, wordsUntilMs - performance.now());
      return {
        kind: "changed",
        before: { line: beforeLine++, parts: compared.before },
        after: { line: afterLine++, parts: compared.after },
      };
    }
    if (before !== undefined) {
      return { kind: "changed", before: { line: beforeLine++, parts: shorten([linePart(before, true)]) } };
    }
    return {
      kind: "changed",
      after: { line: afterLine++, parts: shorten([linePart(after ?? "", true)]) },
    };
  }
}
