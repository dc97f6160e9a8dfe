import { familyOf } from "@presage/contract/describe-runs";
import type { PairAgreement } from "../../platform/statistics/agreement/agreement.ts";
import type { ClusteredFigure } from "../../platform/statistics/intervals.ts";

/** With fewer, a figure is mostly chance. */
const fewLabels = 20;

/** What the figures say, for people. */
export function describeAgreement(
  { counts, agreement, cohen_kappa, specificity }: PairAgreement,
  { evaluatorId, otherId, isWeighted }: { evaluatorId: string; otherId: string; isWeighted: boolean },
): string {
  const [evaluator, against] = [familyOf(evaluatorId), familyOf(otherId)];
  const isOfPeople = against === "human";
  const reference = isOfPeople ? "people" : against;
  if (agreement.value === null)
    return isOfPeople
      ? `Nobody has labelled a verdict${evaluator === "" ? "" : ` of ${evaluator}`} yet.`
      : `${evaluator} and ${against} have no sample in common that both gave a verdict on.`;
  const samples = `${agreement.count} ${agreement.count === 1 ? "sample" : "samples"}`;
  const beyond =
    cohen_kappa.value === null ? "" : `; beyond chance κ = ${withInterval(cohen_kappa, (x) => x.toFixed(2))}`;
  const share = withInterval(agreement, (x) => `${Math.round(100 * x)} %`);
  const whoFails = isOfPeople ? "people fail" : `${against} fails`;
  // Counts without weights would not say it.
  const passed = isWeighted ? describeShare(specificity, whoFails) : describePassed(counts, whoFails);
  return `${evaluator} agrees with ${reference} on ${share} of ${samples}${beyond}. ${passed}`;
}

function describeShare({ value }: Pick<ClusteredFigure, "value">, whoFails: string): string {
  return value === null
    ? `There is none that ${whoFails}.`
    : `It passes ${Math.round(100 * (1 - value))} % of what ${whoFails}.`;
}

function describePassed({ onlyFirst: passed, bothFail }: PairAgreement["counts"], whoFails: string): string {
  const failed = passed + bothFail;
  if (failed === 0) return `There is none that ${whoFails}.`;
  if (passed === 0) return `It passes none of the ${failed} that ${whoFails}.`;
  return `It passes ${passed} of the ${failed} that ${whoFails}.`;
}

function withInterval(
  { value, interval }: Pick<ClusteredFigure, "value" | "interval">,
  format: (value: number) => string,
): string {
  const shown = format(value ?? 0);
  return interval === null ? shown : `${shown} (${format(interval.lower)} to ${format(interval.upper)})`;
}

/** What qualifies the figures. `of`: of people's labels, whether those that were drawn count alone, and how many others are left. */
export function notesOn(
  { agreement }: PairAgreement,
  of: { weighted: boolean; left: number } | undefined,
): string[] {
  const { count, note } = agreement;
  if (count === 0) return [];
  return [
    ...(note === null ? [] : [note]),
    ...(count < fewLabels ? [`With fewer than ${fewLabels} labels the figures may still change much.`] : []),
    ...(of?.weighted === false
      ? ["The verdicts were not drawn at random, so that the figures are about these alone."]
      : []),
    ...(of?.weighted
      ? [
          "Of drawn verdicts, each weighted by the inverse of its probability; outputs that equal their gold answers were not drawn.",
        ]
      : []),
    ...(of !== undefined && of.left > 0
      ? [
          `${of.left} labelled ${of.left === 1 ? "verdict that was" : "verdicts that were"} not drawn do not count.`,
        ]
      : []),
  ];
}
