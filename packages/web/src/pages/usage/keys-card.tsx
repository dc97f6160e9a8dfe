import { useQuery } from "@tanstack/react-query";
import { apiKeysQuery } from "../../data/api-keys.ts";
import { groupByStep, sumUsage, type UsageFigures } from "../../data/figures/usage-figures.ts";
import { usePresage } from "../../data/use-presage.ts";
import { Badge } from "../../ui/badge.tsx";
import { Card } from "../../ui/card.tsx";
import { Sparkline } from "../../ui/charts/sparkline.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../ui/table.tsx";
import { useNow } from "../../ui/use-now.ts";
import type { UsageOfKey } from "./rank-keys.ts";
import { describeUnpriced, UsageCells, UsageHeaderCells } from "./usage-cells.tsx";

interface KeysCardProps {
  keys: readonly UsageOfKey[];
  all: UsageFigures;
  currency: string | null;
  stepStarts: readonly number[];
}

export function KeysCard({ keys, all, currency, stepStarts }: KeysCardProps) {
  const presage = usePresage();
  const nowMs = useNow();
  // Usage covers every key of the account but has no expiry; that is known only for the user's own keys.
  const { data: ownKeys } = useQuery(apiKeysQuery(presage));
  const expired = new Set(
    ownKeys?.flatMap(({ id, expires_at }) => (expires_at && Date.parse(expires_at) <= nowMs ? [id] : [])),
  );
  return (
    <Card title="By key" hint={describeUnpriced(all)}>
      <Table label="Usage by key" className="whitespace-nowrap">
        <thead>
          <tr className="border-b border-line">
            <HeaderCell>Key</HeaderCell>
            <HeaderCell className="max-md:hidden">Requests over time</HeaderCell>
            <UsageHeaderCells currency={currency} />
          </tr>
        </thead>
        <tbody>
          {keys.map((usage) => (
            <tr key={usage.keyId} className="border-b border-line last:border-0 hover:bg-hover">
              <RowHeader>
                <KeyName usage={usage} isExpired={usage.keyId !== null && expired.has(usage.keyId)} />
              </RowHeader>
              <Cell className="max-md:hidden">
                <Sparkline values={countBySteps(usage, stepStarts)} />
              </Cell>
              <UsageCells figures={usage} all={all} currency={currency} />
            </tr>
          ))}
        </tbody>
        {keys.length > 1 && (
          <tfoot>
            <tr className="border-t border-line-strong font-medium">
              <RowHeader className="font-medium">All</RowHeader>
              <Cell className="max-md:hidden" />
              <UsageCells figures={all} all={all} currency={currency} />
            </tr>
          </tfoot>
        )}
      </Table>
    </Card>
  );
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
