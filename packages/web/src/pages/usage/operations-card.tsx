import type { UsageOperation, UsageRow } from "@presage/sdk";
import { sumUsage, type UsageFigures } from "../../data/figures/usage-figures.ts";
import { operationLabels } from "../../format/usage-labels.ts";
import { Card } from "../../ui/card.tsx";
import { HeaderCell, RowHeader, Table } from "../../ui/table.tsx";
import { UsageCells, UsageHeaderCells } from "./usage-cells.tsx";

interface OperationsCardProps {
  rows: readonly UsageRow[];
  all: UsageFigures;
  currency: string | null;
}

export function OperationsCard({ rows, all, currency }: OperationsCardProps) {
  const rowsOf = Map.groupBy(rows, ({ operation }) => operation);
  return (
    <Card title="By operation">
      <Table label="Usage by operation" className="whitespace-nowrap">
        <thead>
          <tr className="border-b border-line">
            <HeaderCell>Operation</HeaderCell>
            <UsageHeaderCells currency={currency} />
          </tr>
        </thead>
        <tbody>
          {(Object.keys(operationLabels) as UsageOperation[]).map((operation) => (
            <tr key={operation} className="border-b border-line last:border-0 hover:bg-hover">
              <RowHeader className="font-medium">{operationLabels[operation]}</RowHeader>
              <UsageCells figures={sumUsage(rowsOf.get(operation) ?? [])} all={all} currency={currency} />
            </tr>
          ))}
        </tbody>
      </Table>
    </Card>
  );
}
