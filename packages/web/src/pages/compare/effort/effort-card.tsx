import type { RunReport } from "@presage/sdk";
import type { ReactNode } from "react";
import { formatCost, formatCount, formatDuration } from "../../../format/numbers.ts";
import { Card } from "../../../ui/card.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../../ui/table.tsx";
import type { MarkedRun } from "../run-mark.tsx";
import { RunName } from "../run-mark.tsx";

interface EffortCardProps {
  marked: readonly MarkedRun[];
  /** In the same order as `marked`; undefined until loaded. */
  reports: readonly (RunReport | undefined)[];
}

interface Measure {
  name: string;
  /** Undefined if it does not apply. */
  value(report: RunReport): ReactNode;
  /** Left out if no run has any. */
  isFailure?: boolean;
}

const measures: Measure[] = [
  { name: "Latency, median", value: ({ latency_ms }) => latency_ms && formatDuration(latency_ms.p50) },
  {
    name: "Latency, 95th percentile",
    value: ({ latency_ms }) => latency_ms && formatDuration(latency_ms.p95),
  },
  {
    name: "Latency, 99th percentile",
    value: ({ latency_ms }) => latency_ms && formatDuration(latency_ms.p99),
  },
  {
    name: "Predictions a second",
    value: ({ predictions_per_second: rate }) => rate?.toFixed(1),
  },
  { name: "Prompt tokens", value: ({ tokens }) => formatCount(tokens.prompt) },
  { name: "Completion tokens", value: ({ tokens }) => formatCount(tokens.completion) },
  { name: "Cost", value: ({ cost }) => cost && costText(cost) },
  {
    name: "Failed predictions",
    value: ({ failures }) => sumText(failures.predictions),
    isFailure: true,
  },
  {
    name: "Evaluations without a verdict",
    value: ({ failures }) => sumText(failures.evaluations),
    isFailure: true,
  },
];

/** The time, tokens and cost of each run, and its failures. */
export function EffortCard({ marked, reports }: EffortCardProps) {
  const all = marked.map((one, index) => ({ one, report: reports[index] }));
  const busy = all.filter(({ report }) => report === undefined || tookSomething(report));
  if (busy.length === 0) return null;
  // One column alone could not be compared with anything.
  const columns = busy.length === 1 ? all : busy;
  const rows = measures.filter(
    ({ isFailure, value }) => !isFailure || columns.some(({ report }) => report && value(report) !== "0"),
  );
  return (
    <Card
      title="Costs and latency"
      hint={`Of the whole runs, not only of the samples that are compared.${columns.length < marked.length ? " Runs that called no model and failed nowhere are left out." : ""}`}
    >
      <Table label="Costs and latency" isStacked className="max-w-3xl">
        <thead>
          <tr className="border-b border-line">
            <HeaderCell>Measure</HeaderCell>
            {columns.map(({ one }) => (
              <HeaderCell key={one.run.id} isNumber className="max-w-56" short={one.letter}>
                <span className="flex justify-end">
                  <RunName marked={one} />
                </span>
              </HeaderCell>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, value }) => (
            <tr key={name} className="border-b border-line last:border-0">
              <RowHeader className="text-ink-2">{name}</RowHeader>
              {columns.map(({ one, report }) => (
                <Cell key={one.run.id} isNumber>
                  {report === undefined ? <Skeleton className="ml-auto h-4 w-16" /> : (value(report) ?? "–")}
                </Cell>
              ))}
            </tr>
          ))}
        </tbody>
      </Table>
    </Card>
  );
}

function tookSomething({ latency_ms, tokens, failures }: RunReport): boolean {
  const failed = { ...failures.predictions, ...failures.evaluations };
  return latency_ms !== null || !!tokens.prompt || Object.keys(failed).length > 0;
}

function costText({ total, currency, unpriced_tokens }: NonNullable<RunReport["cost"]>): string {
  if (total === null) return "no price";
  const text = formatCost(total, currency);
  return unpriced_tokens === 0 ? text : `${text} without ${formatCount(unpriced_tokens)} tokens`;
}

function sumText(counts: Record<string, number>): string {
  return formatCount(Object.values(counts).reduce((sum, count) => sum + count, 0));
}
