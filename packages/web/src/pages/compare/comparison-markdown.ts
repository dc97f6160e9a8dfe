import { describeComparison } from "@presage/contract/describe-comparison";
import { describeP, formatPoints } from "@presage/contract/describe-runs";
import type { Comparison } from "@presage/sdk";
import { formatCount, formatMeasured } from "../../format/numbers.ts";
import { nameEvaluator } from "../../parts/evaluator-names.ts";
import { markRuns, nameRun } from "./run-mark.tsx";

const columns = [
  "evaluator",
  "run",
  "reference",
  "this run",
  "difference",
  "95 % interval",
  "p (Holm)",
  "samples in trajectories",
  "better / worse / same",
];

/** A comparison for a pull request or an appendix: its conclusions, then its figures. */
export function comparisonMarkdown({ runs, preliminary, evaluators }: Comparison, address: string): string {
  const marked = markRuns(runs);
  const nameOf = (id: string) => {
    const one = marked.find(({ run }) => run.id === id);
    return one === undefined ? id : nameRun(one, marked);
  };
  const reference = nameOf(runs[0]?.id ?? "");
  const compared = evaluators.flatMap((evaluator) =>
    evaluator.candidates.map((candidate) => ({
      evaluator: nameEvaluator(evaluator, evaluators),
      name: nameOf(candidate.run_id),
      reference: evaluator.reference,
      candidate,
    })),
  );
  const sentences = compared.map(({ evaluator, name, candidate }) => {
    const names = { candidate: name, reference, evaluator, preliminary };
    const { sentence, caveats } = describeComparison(candidate, names);
    return `- ${plain([sentence, ...caveats].join(" "))}`;
  });
  const rows = compared.map(({ evaluator, name, reference: figures, candidate }) => {
    const { interval, p_adjusted: p, count, trajectories, wins, losses, ties } = candidate;
    return [
      evaluator,
      name,
      formatMeasured(figures),
      formatMeasured(candidate),
      formatPoints(candidate.difference),
      interval === null ? "–" : `${formatPoints(interval.lower)} to ${formatPoints(interval.upper)}`,
      p === null ? "–" : describeP(p),
      `${formatCount(count)} in ${formatCount(trajectories)}`,
      [wins, losses, ties].map(formatCount).join(" / "),
    ];
  });
  return [
    `### Compared with ${plain(reference)}`,
    "",
    ...sentences,
    "",
    ...tableOf(columns, rows),
    "",
    "Differences of mean scores, or of pass rates where verdicts have no score, in percentage points, paired by sample; intervals at 95 %, clustered by trajectory; p by flipped signs of trajectories’ sums, with Holm’s correction.",
    "",
    `<${address}>`,
    "",
  ].join("\n");
}

/** Escapes names, which may contain anything: character references are never markup. "< " is none either, as in "p < 0.001". */
function plain(text: string): string {
  return text
    .replace(/[\n\r]+/g, " ")
    .replace(/<(?! )|[\\`*_[\]>|#&]/g, (mark) => `&#${mark.codePointAt(0)};`);
}

function tableOf(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.map(plain).join(" | ")} |`;
  return [line(headings), `|${" --- |".repeat(headings.length)}`, ...rows.map(line)];
}
