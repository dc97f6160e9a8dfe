import type { UsageOperation, UsageRow } from "@presage/sdk";
import { useMemo } from "react";
import { sumUsage, type UsageFigures } from "../../data/figures/usage-figures.ts";
import { operationLabels } from "../../format/usage-labels.ts";
import { Card } from "../../ui/card.tsx";
import type { DataColumn } from "../../ui/data-table/data-column.ts";
import { DataTable } from "../../ui/data-table/data-table.tsx";
import { TableTools } from "../../ui/data-table/table-tools.tsx";
import { useDataTable } from "../../ui/data-table/use-data-table.ts";
import { useTableView } from "../../ui/data-table/use-table-view.ts";
import { usageColumns } from "./usage-columns.tsx";

interface OperationsCardProps {
  rows: readonly UsageRow[];
  all: UsageFigures;
  currency: string | null;
}

interface UsageOfOperation extends UsageFigures {
  operation: UsageOperation;
}

const operationColumn: DataColumn<UsageOfOperation> = {
  id: "operation",
  label: "Operation",
  value: ({ operation }) => operationLabels[operation],
  cell: ({ operation }) => <span className="font-medium">{operationLabels[operation]}</span>,
  widthPx: 168,
  isElastic: true,
  isFixed: true,
};

export function OperationsCard({ rows, all, currency }: OperationsCardProps) {
  const operations = useMemo(() => sumByOperation(rows), [rows]);
  const columns = useMemo(
    (): DataColumn<UsageOfOperation>[] => [operationColumn, ...usageColumns(all, currency)],
    [all, currency],
  );
  const table = useDataTable({
    label: "Usage by operation",
    view: useTableView("usage-operations", columns),
    columns,
    rows: operations,
    rowId: ({ operation }) => operation,
    rowName: ({ operation }) => operationLabels[operation],
  });
  return (
    <Card title="By operation" actions={<TableTools table={table} />}>
      <DataTable table={table} empty={null} />
    </Card>
  );
}

function sumByOperation(rows: readonly UsageRow[]): UsageOfOperation[] {
  const rowsOf = Map.groupBy(rows, ({ operation }) => operation);
  return (Object.keys(operationLabels) as UsageOperation[]).map((operation) => ({
    operation,
    ...sumUsage(rowsOf.get(operation) ?? []),
  }));
}
