import { countOf, printable } from "../platform/words.ts";

const maxReasons = 3;
const maxCharacters = 300;
const maxNames = 2;

/** Counts lines that are added in order, each once. */
interface LineCount {
  lastLine: number;
  lines: number;
}

interface Reason extends LineCount {
  firstLine: number;
  evaluators: Set<string>;
}

/** The first few distinct reasons why lines failed. */
export interface FailureReasons {
  /** Lines are added in order; one may fail for several reasons, and several evaluators for the same one. */
  add(line: number, reason: string, evaluator?: string): void;
  /** A line for each, or none if nothing failed. */
  describe(): string[];
}

export function collectFailureReasons(): FailureReasons {
  const reasons = new Map<string, Reason>();
  const others: LineCount = { lastLine: 0, lines: 0 };
  return {
    add(line, text, evaluator) {
      const reason = reasons.get(text) ?? { firstLine: line, lastLine: 0, lines: 0, evaluators: new Set() };
      if (reasons.size < maxReasons) reasons.set(text, reason);
      count(reasons.has(text) ? reason : others, line);
      if (evaluator !== undefined) reason.evaluators.add(evaluator);
    },
    describe() {
      const described = [...reasons].map(([text, { firstLine, lines, evaluators }]) => {
        const more = lines === 1 ? "" : ` (and ${countOf(lines - 1, "more line")})`;
        return `  line ${firstLine}: ${short(nameEvaluators(evaluators) + text)}${more}`;
      });
      const rest = others.lines === 0 ? [] : [`  and ${countOf(others.lines, "line")} for other reasons`];
      return described.length === 0 ? [] : ["Failures:", ...described, ...rest];
    },
  };
}

function count(of: LineCount, line: number): void {
  if (of.lastLine === line) return;
  of.lastLine = line;
  of.lines += 1;
}

function nameEvaluators(evaluators: ReadonlySet<string>): string {
  if (evaluators.size === 0) return "";
  const named = [...evaluators].slice(0, maxNames).join(", ");
  const unnamed = evaluators.size - maxNames;
  return unnamed <= 0 ? `${named}: ` : `${named}, and ${countOf(unnamed, "other evaluator")}: `;
}

function short(reason: string): string {
  const text = printable(reason.trim().replaceAll(/\s+/g, " "));
  return text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters).toWellFormed()}…`;
}
