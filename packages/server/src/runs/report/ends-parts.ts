import type { RunReport } from "@presage/contract";
import { countOf } from "../../platform/words.ts";
import { firstRows, heading, interval, paragraph, type ReportPart, share } from "./pages.ts";

type Ends = NonNullable<RunReport["ends"]>;
type Figure = NonNullable<Ends["done"]>["agreement"];

/** Whether predictions end where the real environment ends, and pay what it pays. */
export function endsParts({ ends, run }: RunReport): ReportPart[] {
  if (ends === undefined || run.provenance.ends === undefined) return [];
  const { done, reward, note } = ends;
  const figures = [
    ["Ends alike", done?.agreement],
    ["False ends", done?.false_ends],
    ["Missed ends", done?.missed_ends],
    ["Reward, mean absolute error", reward?.absolute_error],
    ["Reward, rank correlation", reward?.spearman],
  ] as const;
  return [
    heading(2, "Ends and rewards"),
    ...(note === null ? [] : [paragraph(note)]),
    ...(done ? [countsTable(done)] : []),
    {
      kind: "table",
      columns: ["Figure", "Value", "Interval", "Predictions", "Trajectories", ""],
      rows: figures.flatMap(([name, one]) =>
        one === undefined ? [] : [[name, ...figureCells(one), one.note ?? ""]],
      ),
    },
    ...[done, reward].flatMap((one, index) =>
      one === null || one.without === 0
        ? []
        : paragraph(
            `Left out, as they say nothing of ${index === 0 ? "the end" : "the reward"}: ${countOf(one.without, "prediction")}.`,
          ),
    ),
    ...(done ? stepChart(done) : []),
    ...stepTable(done, reward),
  ];
}

function countsTable({ counts }: NonNullable<Ends["done"]>): ReportPart {
  const { both, only_predicted, only_recorded, neither } = counts;
  return {
    kind: "table",
    columns: ["", "Really ends", "Really goes on"],
    rows: [
      ["Predicted to end", String(both), String(only_predicted)],
      ["Predicted to go on", String(only_recorded), String(neither)],
    ],
  };
}

function figureCells({ value, interval: bounds, count, trajectories }: Figure): string[] {
  return [share(value), interval(bounds), String(count), String(trajectories)];
}

function stepChart({ step }: NonNullable<Ends["done"]>): ReportPart[] {
  const points = step.flatMap(({ key, agreement: { value, interval } }) =>
    value === null ? [] : [{ step: key, share: value, interval, baseline: null }],
  );
  if (points.length < 2) return [];
  return [
    { kind: "chart", caption: "Predictions that end alike, by step, with their 95 % interval.", points },
  ];
}

function stepTable(done: Ends["done"], reward: Ends["reward"]): ReportPart[] {
  const rewards = new Map(reward?.step.map((one) => [one.key, one]));
  const ofDone = new Map(done?.step.map((one) => [one.key, one]));
  const keys = [...new Set([...ofDone.keys(), ...rewards.keys()])].sort((a, b) => a - b);
  if (keys.length === 0) return [];
  const rows = keys.map((key) => {
    const [end, paid] = [ofDone.get(key), rewards.get(key)];
    return [
      String(key),
      share(end?.agreement.value ?? null),
      interval(end?.agreement.interval ?? null),
      String((end?.counts.both ?? 0) + (end?.counts.only_recorded ?? 0)),
      share(paid?.absolute_error.value ?? null),
      share(paid?.spearman.value ?? null),
      String(end?.agreement.count ?? paid?.absolute_error.count),
    ];
  });
  const columns = ["Step", "Ends alike", "Interval", "Real ends", "Error", "Rank correlation", "Predictions"];
  return [heading(3, "By step"), ...firstRows(columns, rows)];
}
