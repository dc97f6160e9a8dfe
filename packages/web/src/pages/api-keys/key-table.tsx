import type { ApiKeyResponse } from "@presage/sdk";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { clsx } from "clsx";
import { type ReactNode, useCallback, useMemo, useState } from "react";
import { describeCapture } from "../../format/words.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import type { DataColumn } from "../../ui/data-table/columns.ts";
import { DataTable } from "../../ui/data-table/data-table.tsx";
import { useDataTable } from "../../ui/data-table/table-model.ts";
import { TableTools } from "../../ui/data-table/table-tools.tsx";
import { useTableView } from "../../ui/data-table/table-view.ts";
import { Time, useNow } from "../../ui/time.tsx";
import { KeySettingsDialog, RevokeKeyDialog } from "./key-dialogs.tsx";
import { describeLimits } from "./read-key-form.ts";

type KeyState = "active" | "expires soon" | "expired" | "revoked";

interface KeyRow {
  apiKey: ApiKeyResponse;
  state: KeyState;
}

interface KeyTableProps {
  /** Undefined while loading. */
  keys: readonly ApiKeyResponse[] | undefined;
  /** Names of users by their ids, where the keys are those of several. */
  userNames: ReadonlyMap<string, string> | undefined;
  empty: ReactNode;
}

export function KeyTable({ keys, userNames, empty }: KeyTableProps) {
  const nowMs = useNow();
  const { revoke } = useSearch({ from: "/api-keys" });
  const navigate = useNavigate();
  const setToRevoke = useCallback(
    (apiKey: ApiKeyResponse | undefined) =>
      navigate({
        to: "/api-keys",
        search: ({ revoke: _, ...rest }) => (apiKey === undefined ? rest : { ...rest, revoke: apiKey.id }),
        replace: true,
      }),
    [navigate],
  );
  const [toChange, setToChange] = useState<ApiKeyResponse>();
  const rows = useMemo(
    () => keys?.map((apiKey) => ({ apiKey, state: keyState(apiKey, nowMs) })),
    [keys, nowMs],
  );
  const columns = useMemo(
    () => [
      ...factColumns.toSpliced(1, 0, ...userColumns(userNames)),
      actionsColumn(setToChange, setToRevoke),
    ],
    [userNames, setToRevoke],
  );
  const view = useTableView("api-keys", columns, { isInAddress: true });
  const table = useDataTable({
    label: "API keys",
    view,
    columns,
    rows,
    rowId: ({ apiKey }) => apiKey.id,
    rowName: ({ apiKey }) => apiKey.name,
    isMain: true,
  });
  return (
    <Card title="Keys" actions={<TableTools table={table} />}>
      <DataTable table={table} expectedRows={4} empty={empty} />
      <KeySettingsDialog apiKey={toChange} onClose={() => setToChange(undefined)} />
      <RevokeKeyDialog
        apiKey={keys?.find(({ id }) => id === revoke)}
        onClose={() => setToRevoke(undefined)}
      />
    </Card>
  );
}

const soonMs = 7 * 86_400_000;

export function keyState(
  { revoked_at, expires_at }: Pick<ApiKeyResponse, "revoked_at" | "expires_at">,
  nowMs: number,
): KeyState {
  if (revoked_at) return "revoked";
  if (!expires_at) return "active";
  const leftMs = Date.parse(expires_at) - nowMs;
  if (leftMs <= 0) return "expired";
  return leftMs <= soonMs ? "expires soon" : "active";
}

const factColumns: DataColumn<KeyRow>[] = [
  {
    id: "name",
    label: "Name",
    value: ({ apiKey }) => apiKey.name,
    cell: ({ apiKey, state }) => (
      <span
        title={apiKey.name}
        className={clsx("font-medium", state === "revoked" ? "text-ink-3" : "text-ink")}
      >
        {apiKey.name}
      </span>
    ),
    widthPx: 140,
    isElastic: true,
    isFixed: true,
  },
  {
    id: "key",
    label: "Key",
    value: ({ apiKey: { prefix, last_four } }) => `${prefix}…${last_four}`,
    cell: ({ apiKey: { prefix, last_four } }) => (
      <span className="font-mono text-xs">
        {prefix}…{last_four}
      </span>
    ),
    widthPx: 124,
    isWideOnly: true,
  },
  {
    id: "state",
    label: "State",
    value: ({ state }) => state,
    cell: ({ state }) => <StateBadge state={state} />,
    widthPx: 136,
  },
  {
    id: "created",
    label: "Created",
    value: ({ apiKey }) => apiKey.created_at,
    cell: ({ apiKey }) => <Time at={apiKey.created_at} />,
    widthPx: 120,
    isWideOnly: true,
    isNewestFirst: true,
  },
  {
    id: "expires",
    label: "Expires",
    value: ({ apiKey }) => apiKey.expires_at,
    cell: ({ apiKey: { expires_at } }) => (expires_at ? <Time at={expires_at} /> : "Never"),
    widthPx: 104,
    isWideOnly: true,
  },
  {
    id: "scopes",
    label: "Scopes",
    hint: "What the key may do, within its user’s role",
    value: ({ apiKey: { scopes } }) => scopes?.join(", ") ?? "all",
    widthPx: 128,
    isWideOnly: true,
  },
  {
    id: "limits",
    label: "Limits",
    hint: "How many requests a key may make, and which of its predictions are stored",
    value: ({ apiKey }) => describeLimits(apiKey),
    cell: ({ apiKey: { capture, ...limits } }) => (
      <>
        {describeLimits(limits) ?? "The server's"}
        {capture && <span className="block text-xs text-ink-3">Stores {describeCapture(capture)}</span>}
      </>
    ),
    widthPx: 128,
    isWideOnly: true,
    isSortable: false,
  },
  {
    id: "used",
    label: "Last used",
    value: ({ apiKey }) => apiKey.last_used_at,
    cell: ({ apiKey: { last_used_at } }) => (last_used_at ? <Time at={last_used_at} /> : "Never"),
    widthPx: 124,
    isWideOnly: true,
    isNewestFirst: true,
  },
];

function userColumns(names: ReadonlyMap<string, string> | undefined): DataColumn<KeyRow>[] {
  if (names === undefined) return [];
  const value = ({ apiKey: { user_id: id = "" } }: KeyRow) => names.get(id) ?? id;
  return [{ id: "user", label: "User", hint: "Whose key it is, and as whom it acts", value, widthPx: 136 }];
}

function actionsColumn(
  onChange: (key: ApiKeyResponse) => void,
  onRevoke: (key: ApiKeyResponse) => void,
): DataColumn<KeyRow> {
  return {
    id: "actions",
    label: "Actions",
    cell: ({ apiKey, state }) =>
      state !== "revoked" && (
        <span className="flex justify-end">
          <Button
            variant="quiet"
            size="small"
            onClick={() => onChange(apiKey)}
            aria-label={`Change the settings of ${apiKey.name}`}
          >
            Settings
          </Button>
          <Button
            variant="quiet"
            size="small"
            onClick={() => onRevoke(apiKey)}
            aria-label={`Revoke ${apiKey.name}`}
          >
            Revoke
          </Button>
        </span>
      ),
    widthPx: 160,
    isFixed: true,
    isActions: true,
  };
}

const looks: Record<KeyState, { tone: Tone; label: string }> = {
  active: { tone: "pass", label: "Active" },
  "expires soon": { tone: "warn", label: "Expires soon" },
  expired: { tone: "fail", label: "Expired" },
  revoked: { tone: "neutral", label: "Revoked" },
};

function StateBadge({ state }: { state: KeyState }) {
  const { tone, label } = looks[state];
  return <Badge tone={tone}>{label}</Badge>;
}
