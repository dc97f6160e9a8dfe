import type { ApiKeyResponse } from "@presage/sdk";
import { clsx } from "clsx";
import { useState } from "react";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Time } from "../../ui/time.tsx";
import { useNow } from "../../ui/use-now.ts";
import { type KeyState, keyState } from "./key-state.ts";
import { RevokeKeyDialog } from "./revoke-key-dialog.tsx";

const columns = ["Name", "Key", "State", "Created", "Expires", "Last used"];

export function KeyTable({ keys }: { keys: readonly ApiKeyResponse[] }) {
  const nowMs = useNow();
  const [toRevoke, setToRevoke] = useState<ApiKeyResponse>();
  return (
    <>
      <section aria-label="API keys" tabIndex={0} className="overflow-x-auto">
        <table className="w-full text-sm">
          <thead>
            <tr className="border-b border-line text-left text-xs text-ink-3">
              {columns.map((column) => (
                <th key={column} scope="col" className="px-4 py-2 font-medium whitespace-nowrap">
                  {column}
                </th>
              ))}
              <th scope="col" className="px-4 py-2">
                <span className="sr-only">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => (
              <KeyRow
                key={key.id}
                apiKey={key}
                state={keyState(key, nowMs)}
                onRevoke={() => setToRevoke(key)}
              />
            ))}
          </tbody>
        </table>
      </section>
      <RevokeKeyDialog apiKey={toRevoke} onClose={() => setToRevoke(undefined)} />
    </>
  );
}

function KeyRow({
  apiKey: { name, prefix, last_four, created_at, expires_at, last_used_at },
  state,
  onRevoke,
}: {
  apiKey: ApiKeyResponse;
  state: KeyState;
  onRevoke(): void;
}) {
  const isRevoked = state === "revoked";
  return (
    <tr className={clsx("h-11 border-b border-line last:border-b-0", isRevoked && "text-ink-3")}>
      <th scope="row" className="max-w-72 min-w-40 truncate px-4 text-left font-medium" title={name}>
        {name}
      </th>
      <td className="px-4 font-mono text-xs whitespace-nowrap">
        {prefix}…{last_four}
      </td>
      <td className="px-4">
        <StateBadge state={state} />
      </td>
      <td className="px-4 text-ink-2">
        <Time at={created_at} />
      </td>
      <td className="px-4 text-ink-2">{expires_at ? <Time at={expires_at} /> : "Never"}</td>
      <td className="px-4 text-ink-2">{last_used_at ? <Time at={last_used_at} /> : "Never"}</td>
      <td className="px-4 text-right">
        {!isRevoked && (
          <Button variant="quiet" size="small" onClick={onRevoke} aria-label={`Revoke ${name}`}>
            Revoke
          </Button>
        )}
      </td>
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
