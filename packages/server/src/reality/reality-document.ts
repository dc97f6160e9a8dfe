import type { RealityCheckDetail, RealityFigure, RealityFigures } from "@presage/contract";
import { firstRows, heading, paragraph, type ReportPart } from "../runs/report/pages.ts";
import { percent } from "./figures.ts";

const howIntervals =
  "Intervals are at 95 % and take tasks, not episodes, as independent; fewer than 6 tasks have none.";

/** A reality check as headings, texts, tables and a chart. */
export function realityDocument({ name, environment, real, figures }: RealityCheckDetail): ReportPart[] {
  const { sentence, counts, policies } = figures;
  const where = environment === null ? "" : `Simulated by the environment ${environment}. `;
  const against = real === null ? "" : `Replayed in the real environment ${real}. `;
  return [
    heading(1, name),
    paragraph(`${where}${against}${howIntervals}`),
    paragraph(sentence, true),
    ...sentencesOf(figures).map((text) => paragraph(text)),
    {
      kind: "table",
      columns: ["", "Succeeds in reality", "Fails in reality"],
      rows: [
        ["Succeeds in simulation", String(counts.both), String(counts.only_simulated)],
        ["Fails in simulation", String(counts.only_real), String(counts.neither)],
      ],
    },
    heading(2, "Figures"),
    {
      kind: "table",
      columns: ["Figure", "Value", "Interval", "Episodes", "Tasks", "Note"],
      rows: [
        cellsOf("False success", figures.false_success_rate),
        cellsOf("Missed success", figures.missed_success_rate),
        cellsOf("Agreement", figures.agreement),
        cellsOf("Bias", figures.bias),
      ],
    },
    ...(policies.length === 0
      ? []
      : [
          heading(2, "False success by policy"),
          ...firstRows(
            ["Policy", "Value", "Interval", "Episodes", "Tasks", "Note"],
            policies.map(({ policy, false_success_rate }) => cellsOf(policy, false_success_rate)),
          ),
        ]),
    ...exploitParts(figures),
  ];
}

function sentencesOf({ divergence, exploits }: RealityFigures): string[] {
  return [...(divergence === null ? [] : [divergence.sentence]), exploits.sentence];
}

function exploitParts({
  exploits: { verbs, false_successes, true_successes },
}: RealityFigures): ReportPart[] {
  if (verbs.length === 0) return [];
  return [
    heading(2, "What false successes do more often"),
    {
      kind: "table",
      columns: [
        "Action",
        `Of ${false_successes} false`,
        `Of ${true_successes} true`,
        "Log odds",
        "Interval",
        "p",
      ],
      rows: verbs.map(({ log_odds_ratio: { value, interval }, ...verb }) => [
        ...[verb.verb, String(verb.false_successes), String(verb.true_successes), value?.toFixed(2) ?? "–"],
        interval === null ? "–" : `${interval.lower.toFixed(2)} to ${interval.upper.toFixed(2)}`,
        verb.p_adjusted?.toFixed(3) ?? "–",
      ]),
    },
  ];
}

function cellsOf(name: string, { value, interval, count, tasks, note }: RealityFigure): string[] {
  const bounds = interval === null ? "–" : `${percent(interval.lower)} to ${percent(interval.upper)}`;
  return [name, value === null ? "–" : percent(value), bounds, String(count), String(tasks), note ?? ""];
}
