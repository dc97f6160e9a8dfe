import type { ApiKeyResponse } from "@presage/sdk";
import { clsx } from "clsx";
import { useState } from "react";
import { describeCapture } from "../../format/describe-capture.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { useNow } from "../../ui/use-now.ts";
import { KeySettingsDialog } from "./key-settings-dialog.tsx";
import { type KeyState, keyState } from "./key-state.ts";
import { describeLimits } from "./read-limits.ts";
import { RevokeKeyDialog } from "./revoke-key-dialog.tsx";

const onlyWide = "max-md:hidden";
const columns = [
  { name: "Name" },
  { name: "Key", className: onlyWide },
  { name: "State" },
  { name: "Created", className: onlyWide },
  { name: "Expires", className: onlyWide },
  { name: "Limits", className: onlyWide },
  { name: "Last used", className: onlyWide },
];

export function KeyTable({ keys }: { keys: readonly ApiKeyResponse[] }) {
  const nowMs = useNow();
  const [toRevoke, setToRevoke] = useState<ApiKeyResponse>();
  const [toChange, setToChange] = useState<ApiKeyResponse>();
  return (
    <>
      <Table label="API keys">
        <thead>
          <tr className="border-b border-line">
            {columns.map(({ name, className }) => (
              <HeaderCell key={name} className={className}>
                {name}
              </HeaderCell>
            ))}
            <HeaderCell>
              <span className="sr-only">Actions</span>
            </HeaderCell>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <KeyRow
              key={key.id}
              apiKey={key}
              state={keyState(key, nowMs)}
              onRevoke={() => setToRevoke(key)}
              onChange={() => setToChange(key)}
            />
          ))}
        </tbody>
      </Table>
      <KeySettingsDialog apiKey={toChange} onClose={() => setToChange(undefined)} />
      <RevokeKeyDialog apiKey={toRevoke} onClose={() => setToRevoke(undefined)} />
    </>
  );
}

function KeyRow({
  apiKey: { name, prefix, last_four, created_at, expires_at, last_used_at, capture, ...limits },
  state,
  onRevoke,
  onChange,
}: {
  apiKey: ApiKeyResponse;
  state: KeyState;
  onRevoke(): void;
  onChange(): void;
}) {
  const isRevoked = state === "revoked";
  return (
    <tr
      className={clsx(
        "h-11 border-b border-line last:border-b-0",
        isRevoked ? "text-ink-3" : "text-ink-2 [&>th]:text-ink",
      )}
    >
      <RowHeader className="max-w-72 max-md:max-w-0 max-md:w-full md:min-w-40">
        <span className="block truncate font-medium" title={name}>
          {name}
        </span>
        <span className="block truncate font-mono text-xs text-ink-3 md:hidden">
          {prefix}…{last_four}
        </span>
      </RowHeader>
      <Cell className={clsx("font-mono text-xs whitespace-nowrap", onlyWide)}>
        {prefix}…{last_four}
      </Cell>
      <Cell>
        <StateBadge state={state} />
      </Cell>
      <Cell className={onlyWide}>
        <Time at={created_at} />
      </Cell>
      <Cell className={onlyWide}>{expires_at ? <Time at={expires_at} /> : "Never"}</Cell>
      <Cell className={onlyWide}>
        {describeLimits(limits) ?? "The server's"}
        {capture && <span className="block text-xs text-ink-3">Stores {describeCapture(capture)}</span>}
      </Cell>
      <Cell className={onlyWide}>{last_used_at ? <Time at={last_used_at} /> : "Never"}</Cell>
      <Cell className="text-right">
        {!isRevoked && (
          <div className="flex justify-end max-md:flex-col">
            <Button
              variant="quiet"
              size="small"
              onClick={onChange}
              aria-label={`Change the settings of ${name}`}
            >
              Settings
            </Button>
            <Button variant="quiet" size="small" onClick={onRevoke} aria-label={`Revoke ${name}`}>
              Revoke
            </Button>
          </div>
        )}
      </Cell>
    </tr>
  );
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
