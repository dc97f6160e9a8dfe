import type { ApiKeyResponse, BudgetListResponse, SpendingResponse } from "@presage/sdk";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { clsx } from "clsx";
import { type Dispatch, type ReactNode, type SetStateAction, useMemo, useState } from "react";
import { counted, formatCost } from "../../format/numbers.ts";
import { describeCapture } from "../../format/words.ts";
import { BudgetBar, type BudgetHolder, describeBudget } from "../../parts/budget.tsx";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import type { DataColumn } from "../../ui/data-table/columns.ts";
import { DataTable } from "../../ui/data-table/data-table.tsx";
import { useDataTable } from "../../ui/data-table/table-model.ts";
import { TableTools } from "../../ui/data-table/table-tools.tsx";
import { useTableView } from "../../ui/data-table/table-view.ts";
import { Select } from "../../ui/form/select.tsx";
import { Time, useNow } from "../../ui/time.tsx";
import { KeySettingsDialog, RevokeKeysDialog } from "./key-dialogs.tsx";
import { describeLimits } from "./read-key-form.ts";

type KeyState = "active" | "expires soon" | "expired" | "revoked";

interface KeyRow {
  apiKey: ApiKeyResponse;
  state: KeyState;
}

interface KeyTableProps {
  /** Undefined while loading. */
  keys: readonly ApiKeyResponse[] | undefined;
  /** Names of users by their ids, if the keys belong to several users. */
  userNames: ReadonlyMap<string, string> | undefined;
  /** Undefined while loading. */
  budgets: BudgetListResponse | undefined;
  /** The spending in this month; undefined while loading. */
  month: SpendingResponse | undefined;
  /** Absent: the user may not set budgets. */
  onBudget: ((holder: BudgetHolder) => void) | undefined;
  empty: ReactNode;
}

export function KeyTable({ keys, userNames, budgets, month, onBudget, empty }: KeyTableProps) {
  const nowMs = useNow();
  const { revoke } = useSearch({ from: "/api-keys" });
  const navigate = useNavigate();
  const [toRevoke, setToRevoke] = useState<readonly ApiKeyResponse[]>([]);
  const inAddress = useMemo(() => keys?.filter(({ id }) => id === revoke) ?? [], [keys, revoke]);
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const [owner, setOwner] = useState("");
  const [toChange, setToChange] = useState<ApiKeyResponse>();
  const rows = useMemo(
    () =>
      keys
        ?.filter(({ user_id }) => owner === "" || user_id === owner)
        .map((apiKey) => ({ apiKey, state: keyState(apiKey, nowMs) })),
    [keys, owner, nowMs],
  );
  const columns = useMemo(
    () => [
      tickColumn(ticked, setTicked),
      ...factColumns.toSpliced(1, 0, ...userColumns(userNames)),
      ...spendColumns(month),
      ...budgetColumns(budgets, onBudget),
      actionsColumn(setToChange, (apiKey) => setToRevoke([apiKey])),
    ],
    [userNames, ticked, budgets, month, onBudget],
  );
  const revocable = rows?.filter(({ state }) => state !== "revoked").map(({ apiKey }) => apiKey) ?? [];
  const chosen = revocable.filter(({ id }) => ticked.has(id));
  const view = useTableView("api-keys", columns, { isInAddress: true });
  const table = useDataTable({
    label: "API keys",
    view,
    columns,
    rows,
    rowId: ({ apiKey }) => apiKey.id,
    rowName: ({ apiKey }) => apiKey.name,
    spare: ["scopes", "budget", "spent"],
    isMain: true,
  });
  return (
    <Card
      title="Keys"
      actions={
        <>
          {userNames !== undefined && (
            <Select
              aria-label="Whose keys"
              value={owner}
              options={[
                { value: "", label: "Everyone" },
                ...[...userNames].map(([value, label]) => ({ value, label })),
              ]}
              onChange={setOwner}
            />
          )}
          {owner !== "" && revocable.length > chosen.length && (
            <Button size="small" onClick={() => setTicked(new Set(revocable.map(({ id }) => id)))}>
              Select all {revocable.length}
            </Button>
          )}
          {chosen.length > 0 && (
            <Button variant="danger" size="small" onClick={() => setToRevoke(chosen)}>
              Revoke {counted(chosen.length, "key")}
            </Button>
          )}
          <TableTools table={table} />
        </>
      }
    >
      <DataTable table={table} expectedRows={4} empty={empty} />
      <KeySettingsDialog apiKey={toChange} onClose={() => setToChange(undefined)} />
      <RevokeKeysDialog
        apiKeys={toRevoke.length > 0 ? toRevoke : inAddress}
        onClose={() => {
          setToRevoke([]);
          void navigate({ to: "/api-keys", search: ({ revoke: _, ...rest }) => rest, replace: true });
        }}
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

function scopesOf({ scopes }: Pick<ApiKeyResponse, "scopes">): string {
  return scopes?.join(", ") ?? "All scopes";
}

const factColumns: DataColumn<KeyRow>[] = [
  {
    id: "name",
    label: "Name",
    value: ({ apiKey }) => apiKey.name,
    cell: ({ apiKey, state }) => (
      <span className="flex min-w-0 flex-col">
        <span
          title={apiKey.name}
          className={clsx("truncate font-medium", state === "revoked" ? "text-ink-3" : "text-ink")}
        >
          {apiKey.name}
        </span>
        <span className="font-mono text-xs text-ink-3">
          {apiKey.prefix}…{apiKey.last_four}
        </span>
      </span>
    ),
    widthPx: 140,
    isElastic: true,
    isFixed: true,
  },
  {
    id: "state",
    label: "State",
    value: ({ state }) => state,
    cell: ({ state, apiKey: { expires_at } }) => (
      <span className="flex flex-col items-start">
        <StateBadge state={state} />
        {expires_at && state !== "revoked" && (
          <span className="text-xs text-ink-3">
            {state === "expired" ? "" : "ends "}
            <Time at={expires_at} />
          </span>
        )}
      </span>
    ),
    widthPx: 116,
  },
  {
    id: "created",
    label: "Created",
    value: ({ apiKey }) => apiKey.created_at,
    widthPx: 120,
    isExtra: true,
    isNewestFirst: true,
  },
  {
    id: "expires",
    label: "Expires",
    value: ({ apiKey }) => apiKey.expires_at,
    cell: ({ apiKey: { expires_at } }) => (expires_at ? <Time at={expires_at} /> : "Never"),
    widthPx: 120,
    isExtra: true,
  },
  {
    id: "scopes",
    label: "Scopes, limits",
    hint: "What the key may do within its user’s role, its own request limits, if any, and which of its predictions are stored",
    value: ({ apiKey }) => [scopesOf(apiKey), describeLimits(apiKey)].filter(Boolean).join("; "),
    cell: ({ apiKey: { capture, ...apiKey } }) => {
      const limits = describeLimits(apiKey);
      return (
        <>
          {scopesOf(apiKey)}
          {limits && <span className="block text-xs text-ink-3">{limits}</span>}
          {capture && <span className="block text-xs text-ink-3">Stores {describeCapture(capture)}</span>}
        </>
      );
    },
    widthPx: 124,
  },
  {
    id: "used",
    label: "Last used",
    value: ({ apiKey }) => apiKey.last_used_at,
    cell: ({ apiKey: { last_used_at, scopes }, state }) =>
      last_used_at ? (
        <Time at={last_used_at} />
      ) : scopes == null && state === "active" ? (
        <span
          className="text-warn"
          title="It may do all that its user may, and nothing uses it: revoke it, or narrow its scopes."
        >
          Never, all scopes
        </span>
      ) : (
        "Never"
      ),
    widthPx: 132,
    isNewestFirst: true,
  },
];

function tickColumn(
  ticked: ReadonlySet<string>,
  setTicked: Dispatch<SetStateAction<ReadonlySet<string>>>,
): DataColumn<KeyRow> {
  return {
    id: "tick",
    label: "Select",
    cell: ({ apiKey: { id, name }, state }) =>
      state !== "revoked" && (
        <input
          type="checkbox"
          aria-label={`Select ${name}`}
          tabIndex={-1}
          className="block size-4 accent-accent"
          checked={ticked.has(id)}
          onChange={({ target: { checked } }) =>
            // Another tick may not be rendered yet.
            setTicked(
              (before) => new Set(checked ? [...before, id] : [...before].filter((one) => one !== id)),
            )
          }
        />
      ),
    widthPx: 40,
    isFixed: true,
    isActions: true,
  };
}

/** The spending of each key, if there are prices. */
function spendColumns(month: SpendingResponse | undefined): DataColumn<KeyRow>[] {
  const { currency = null, people = [] } = month ?? {};
  if (currency === null) return [];
  const costs = new Map(
    people.flatMap(({ keys }) => keys.map(({ api_key_id: id, cost }) => [id, cost] as const)),
  );
  return [
    {
      id: "spent",
      label: "Cost this month",
      hint: "What its requests cost in this calendar month, UTC, including runs and judges that it started",
      value: ({ apiKey: { id } }) => costs.get(id),
      cell: ({ apiKey: { id } }) => formatCost(costs.get(id) ?? null, currency),
      isNumber: true,
      widthPx: 104,
    },
  ];
}

/** The monthly budget of each key, if there are prices. */
function budgetColumns(
  budgets: BudgetListResponse | undefined,
  onSet: ((holder: BudgetHolder) => void) | undefined,
): DataColumn<KeyRow>[] {
  const { currency = null, data = [] } = budgets ?? {};
  const budgetOf = new Map(data.map((budget) => [budget.api_key_id, budget]));
  if (currency === null) return [];
  return [
    {
      id: "budget",
      label: "Budget",
      hint: "What the key spent of its budget in this calendar month, UTC",
      value: ({ apiKey }) => budgetOf.get(apiKey.id)?.share,
      cell({ apiKey: { id, name }, state }) {
        const budget = budgetOf.get(id);
        const words = budget && describeBudget(budget, currency);
        const isFixed = onSet === undefined || state === "revoked";
        return (
          <span className="flex flex-col items-start gap-1 tabular-nums">
            {isFixed ? (
              (words ?? "–")
            ) : (
              <button
                type="button"
                tabIndex={-1}
                aria-label={`Set the budget of ${name}`}
                className="text-accent-ink hover:underline"
                onClick={() => onSet({ apiKeyId: id, name })}
              >
                {words ?? "Set"}
              </button>
            )}
            {budget !== undefined && <BudgetBar budget={budget} label={`Budget of ${name}`} />}
          </span>
        );
      },
      widthPx: 84,
    },
  ];
}

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
            className="text-fail!"
            onClick={() => onRevoke(apiKey)}
            aria-label={`Revoke ${apiKey.name}`}
          >
            Revoke
          </Button>
        </span>
      ),
    widthPx: 140,
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
