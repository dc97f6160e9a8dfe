// What the account or a key may spend in a month: shown to all, and set by owners.

import type { Budget, BudgetListResponse } from "@presage/sdk";
import { clsx } from "clsx";
import { type FormEvent, useState } from "react";
import { useSetBudget } from "../data/spending.ts";
import { formatCost, formatShare } from "../format/numbers.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/form/fields.tsx";
import { Checkbox } from "../ui/form/inputs.tsx";
import { ErrorNotice } from "../ui/notice.tsx";

const barColors = { ok: "bg-accent", warning: "bg-warn", stopped: "bg-fail" } as const;
const barWords = { ok: "", warning: "nearly used up", stopped: "used up: requests are refused" } as const;

/** How much of a budget is used. */
export function BudgetBar({ budget: { share, state }, label }: { budget: Budget; label: string }) {
  const used = Math.min(100, Math.round((share ?? 0) * 100));
  const words = state === "warning" && (share ?? 0) >= 1 ? "exceeded" : barWords[state];
  return (
    <span className="relative flex h-1.5 w-full overflow-hidden rounded-full bg-sunken">
      <meter className="sr-only" aria-label={label} max={100} value={used}>
        {[formatShare(share), words].filter(Boolean).join(", ")}
      </meter>
      <span
        aria-hidden
        className={clsx("transition-[width]", barColors[state])}
        style={{ width: `${used}%` }}
      />
    </span>
  );
}

/** “$12.35 of $50.00” */
export function describeBudget({ spent, limit }: Budget, currency: string): string {
  return `${formatCost(spent, currency)} of ${formatCost(limit, currency)}`;
}

/** The account or key whose budget is set. */
export interface BudgetHolder {
  /** Null: the account. */
  apiKeyId: string | null;
  name: string;
}

interface BudgetDialogProps {
  /** Undefined: the dialog is closed. */
  holder: BudgetHolder | undefined;
  budgets: BudgetListResponse;
  onClose(): void;
}

export function BudgetDialog({ holder, budgets, onClose }: BudgetDialogProps) {
  const { currency, data } = budgets;
  const known = holder && data.find(({ api_key_id }) => api_key_id === holder.apiKeyId);
  return (
    <Dialog
      isOpen={holder !== undefined}
      onClose={onClose}
      hasForm
      title="Monthly budget"
      hint={"For each calendar month, in UTC. A warning comes at 80\u00a0%."}
    >
      {holder !== undefined &&
        (currency === null ? (
          <p className="text-sm text-ink-2">
            A budget needs prices. The operator of this server can name a price list with{" "}
            <code className="font-mono text-xs">PRESAGE_PRICES</code>.
          </p>
        ) : (
          <BudgetForm holder={holder} known={known} currency={currency} onClose={onClose} />
        ))}
    </Dialog>
  );
}

interface BudgetFormProps {
  holder: BudgetHolder;
  known: Budget | undefined;
  currency: string;
  onClose(): void;
}

function BudgetForm({ holder, known, currency, onClose }: BudgetFormProps) {
  const [limit, setLimit] = useState(known === undefined ? "" : String(known.limit));
  const [stops, setStops] = useState(known?.stops ?? false);
  const [issue, setIssue] = useState<string>();
  const { mutate, error, isPending } = useSetBudget();
  const set = (wanted: number | null) =>
    mutate({ api_key_id: holder.apiKeyId, limit: wanted, stops }, { onSuccess: onClose });

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const wanted = Number(limit);
    if (limit.trim() === "" || !Number.isFinite(wanted) || wanted < 0)
      setIssue("An amount, such as 250 or 12.50.");
    else set(wanted);
  }

  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-4">
      <p className="text-sm font-medium wrap-anywhere">{holder.name}</p>
      <TextField
        label={`Amount in ${currency}`}
        issue={issue}
        inputMode="decimal"
        className="tabular-nums"
        value={limit}
        onChange={(text) => {
          setLimit(text);
          setIssue(undefined);
        }}
      />
      <Checkbox
        label="Refuse requests that ask a model once it is spent"
        checked={stops}
        onChange={({ target }) => setStops(target.checked)}
      />
      {error !== null && <ErrorNotice error={error} />}
      <div className="flex justify-end gap-2">
        {known !== undefined && (
          <Button className="mr-auto" isBusy={isPending} onClick={() => set(null)}>
            Remove
          </Button>
        )}
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" isBusy={isPending}>
          Save
        </Button>
      </div>
    </form>
  );
}
