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
  { name: "Cost", value: ({ cost }) => cost && costText(cost) },
  { name: "Latency, median", value: ({ latency_ms }) => latency_ms && formatDuration(latency_ms.p50) },
  { name: "p95", value: ({ latency_ms }) => latency_ms && formatDuration(latency_ms.p95) },
  { name: "p99", value: ({ latency_ms }) => latency_ms && formatDuration(latency_ms.p99) },
  { name: "A second", value: ({ predictions_per_second: rate }) => rate?.toFixed(1) },
  { name: "Tokens in", value: ({ tokens }) => formatCount(tokens.prompt) },
  { name: "Tokens out", value: ({ tokens }) => formatCount(tokens.completion) },
  { name: "Failed", value: ({ failures }) => sumText(failures.predictions), isFailure: true },
  { name: "Without a verdict", value: ({ failures }) => sumText(failures.evaluations), isFailure: true },
];

/** The time, tokens and cost of each run, and its failures. */
export function EffortCard({ marked, reports }: EffortCardProps) {
  const all = marked.map((one, index) => ({ one, report: reports[index] }));
  const rows = all.filter(({ report }) => report === undefined || tookSomething(report));
  if (rows.length === 0) return null;
  const columns = measures.filter(
    ({ isFailure, value }) => !isFailure || rows.some(({ report }) => report && value(report) !== "0"),
  );
  return (
    <Card
      title="Costs and latency"
      hint={`Of the whole runs, not only of the samples that are compared.${rows.length < marked.length ? " Runs that called no model and failed nowhere are left out." : ""}`}
    >
      <Table label="Costs and latency" isStacked>
        <thead>
          <tr className="border-b border-line">
            <HeaderCell>Run</HeaderCell>
            {columns.map(({ name }) => (
              <HeaderCell key={name} isNumber>
                {name}
              </HeaderCell>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ one, report }) => (
            <tr key={one.run.id} className="border-b border-line last:border-0">
              <RowHeader className="max-w-60">
                <RunName marked={one} />
              </RowHeader>
              {columns.map(({ name, value }) => (
                <Cell key={name} isNumber>
                  {report === undefined ? <Skeleton className="ml-auto h-4 w-12" /> : (value(report) ?? "–")}
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
