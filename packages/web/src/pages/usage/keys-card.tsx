import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo } from "react";
import { apiKeysQuery } from "../../data/api-keys.ts";
import { groupByStep, sumUsage, type UsageFigures } from "../../data/figures/usage-figures.ts";
import { usePresage } from "../../data/use-presage.ts";
import { Badge } from "../../ui/badge.tsx";
import { Card } from "../../ui/card.tsx";
import { Sparkline } from "../../ui/charts/sparkline.tsx";
import type { DataColumn } from "../../ui/data-table/data-column.ts";
import { DataTable } from "../../ui/data-table/data-table.tsx";
import { TableTools } from "../../ui/data-table/table-tools.tsx";
import { useDataTable } from "../../ui/data-table/use-data-table.ts";
import { useTableView } from "../../ui/data-table/use-table-view.ts";
import { useNow } from "../../ui/use-now.ts";
import type { UsageOfKey } from "./rank-keys.ts";
import { describeUnpriced, usageColumns } from "./usage-columns.tsx";

interface KeysCardProps {
  keys: readonly UsageOfKey[];
  all: UsageFigures;
  currency: string | null;
  stepStarts: readonly number[];
}

export function KeysCard({ keys, all, currency, stepStarts }: KeysCardProps) {
  const presage = usePresage();
  const nowMs = useNow();
  // Usage covers every key of the account but has no expiry; that is known of the keys that the user may change.
  const { data: ownKeys } = useQuery(apiKeysQuery(presage));
  const rows = useMemo(() => {
    const isOver = (expiry: string | null | undefined) =>
      typeof expiry === "string" && Date.parse(expiry) <= nowMs;
    const expired = new Set(ownKeys?.filter(({ expires_at }) => isOver(expires_at)).map(({ id }) => id));
    return keys.map((usage) => ({ ...usage, isExpired: usage.keyId !== null && expired.has(usage.keyId) }));
  }, [keys, ownKeys, nowMs]);
  const figureColumns = useMemo(() => usageColumns(all, currency), [all, currency]);
  const columns = useMemo(
    (): DataColumn<KeyRow>[] => [nameColumn, timeColumn(stepStarts), ...figureColumns],
    [stepStarts, figureColumns],
  );
  const table = useDataTable({
    label: "Usage by key",
    view: useTableView("usage-keys", columns),
    columns,
    rows,
    rowId: ({ keyId }) => keyId ?? "dashboard",
    rowName: ({ name }) => name,
    isMain: true,
  });
  function totalOf({ id }: DataColumn<KeyRow>): ReactNode {
    if (id === nameColumn.id) return "All";
    return figureColumns.find((column) => column.id === id)?.cell?.(all, 0);
  }
  return (
    <Card title="By key" hint={describeUnpriced(all)} actions={<TableTools table={table} />}>
      <DataTable table={table} empty={null} totalOf={keys.length > 1 ? totalOf : undefined} />
    </Card>
  );
}

interface KeyRow extends UsageOfKey {
  isExpired: boolean;
}

const nameColumn: DataColumn<KeyRow> = {
  id: "key",
  label: "Key",
  value: ({ name }) => name,
  cell: (row) => <KeyName usage={row} isExpired={row.isExpired} />,
  widthPx: 190,
  isElastic: true,
  isFixed: true,
};

function timeColumn(stepStarts: readonly number[]): DataColumn<KeyRow> {
  return {
    id: "time",
    label: "Over time",
    hint: "Requests in each hour or day of the period",
    cell: (usage) => <Sparkline values={countBySteps(usage, stepStarts)} />,
    widthPx: 132,
    isWideOnly: true,
  };
}

function KeyName({ usage: { key, keyId, name }, isExpired }: { usage: UsageOfKey; isExpired: boolean }) {
  return (
    <span className="flex w-36 min-w-0 flex-col md:w-64">
      <span className="flex min-w-0 items-center gap-2">
        <span className="truncate font-medium" title={name}>
          {name}
        </span>
        {key?.revoked_at ? <Badge>Revoked</Badge> : isExpired && <Badge tone="fail">Expired</Badge>}
      </span>
      <span className="text-xs text-ink-3">
        {keyId === null ? (
          "Requests by signed-in users"
        ) : (
          <code className="font-mono">{key === undefined ? keyId : `${key.prefix}…${key.last_four}`}</code>
        )}
      </span>
    </span>
  );
}

function countBySteps({ rows }: UsageOfKey, stepStarts: readonly number[]): number[] {
  const rowsOf = groupByStep(rows);
  return stepStarts.map((startMs) => sumUsage(rowsOf.get(startMs) ?? []).requests);
}
