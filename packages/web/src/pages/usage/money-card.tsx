import type { Budget, BudgetListResponse, SpendingResponse } from "@presage/sdk";
import { type ReactNode, useState } from "react";
import { useRole } from "../../data/accounts.ts";
import { formatCost, formatCount, formatShare, formatShortCount } from "../../format/numbers.ts";
import { BudgetBar, BudgetDialog, type BudgetHolder, describeBudget } from "../../parts/budget.tsx";
import { Button } from "../../ui/button.tsx";
import { Card, Fact } from "../../ui/card.tsx";
import { CodeBlock } from "../../ui/code/code-block.tsx";
import { Popover } from "../../ui/menu.tsx";

interface MoneyCardProps {
  /** The spending in this calendar month. */
  month: SpendingResponse;
  budgets: BudgetListResponse;
}

const account: BudgetHolder = { apiKeyId: null, name: "The whole account" };
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", timeZone: "UTC" });

/** The spending today and this month, the budget, and models without a price. */
export function MoneyCard({ month, budgets }: MoneyCardProps) {
  const [holder, setHolder] = useState<BudgetHolder>();
  const isOwner = useRole() === "owner";
  const { currency, today, total } = month;
  const budget = budgets.data.find(({ api_key_id }) => api_key_id === null);
  const tokensOf = (of: typeof today) => of.prompt_tokens + of.completion_tokens;
  const amountOf = (of: typeof today): ReactNode =>
    currency === null ? (
      <>
        {formatCount(tokensOf(of))} <span className="text-sm font-normal text-ink-3">tokens</span>
      </>
    ) : (
      formatCost(of.cost, currency)
    );
  return (
    <Card>
      <dl className="grid grid-cols-2 gap-x-6 gap-y-4 p-4 md:grid-cols-[auto_auto_minmax(14rem,1fr)_minmax(10rem,auto)]">
        <Fact look="stacked" name="Today, UTC">
          <Amount>{amountOf(today)}</Amount>
        </Fact>
        <Fact look="stacked" name="This month">
          <Amount>{amountOf(total)}</Amount>
        </Fact>
        <div className="col-span-2 min-w-0 md:col-span-1">
          <dt className="text-xs text-ink-3">Budget of the account</dt>
          <dd className="flex min-w-0 flex-col gap-1.5">
            <span className="flex min-h-8 flex-wrap items-center gap-x-3 text-sm tabular-nums">
              {budget === undefined || currency === null ? (
                <span className="text-ink-2">None is set</span>
              ) : (
                <span>
                  <span className="font-medium">{describeBudget(budget, currency)}</span>
                  <span className="text-ink-3"> · {formatShare(budget.share)}</span>
                </span>
              )}
              {isOwner && (
                <Button size="small" onClick={() => setHolder(account)}>
                  {budget === undefined ? "Set a budget" : "Change"}
                </Button>
              )}
            </span>
            {budget !== undefined && (
              <>
                <BudgetBar budget={budget} label="Budget of the account" />
                <span className="text-xs text-ink-3">
                  {wordsOf(budget)} It resets on {day.format(new Date(budgets.resets_at))}, UTC.
                </span>
              </>
            )}
          </dd>
        </div>
        {(currency === null || total.unpriced_tokens > 0) && (
          <div className="col-span-2 min-w-0 md:col-span-1">
            <dt className="text-xs text-ink-3">Without a price, this month</dt>
            <dd className="text-sm">
              <Unpriced month={month} />
            </dd>
          </div>
        )}
      </dl>
      <BudgetDialog holder={holder} budgets={budgets} onClose={() => setHolder(undefined)} />
    </Card>
  );
}

function wordsOf({ state, stops }: Budget): string {
  if (state === "stopped") return "It is spent: requests that ask a model are refused.";
  return stops
    ? "Requests that ask a model are refused once it is spent."
    : "No request is refused when it is spent.";
}

function Amount({ children }: { children: ReactNode }) {
  return <span className="text-2xl font-semibold tracking-tight">{children}</span>;
}

function Unpriced({ month: { currency, total, unpriced_models: models } }: { month: SpendingResponse }) {
  const tokens = total.prompt_tokens + total.completion_tokens;
  const names = models.map(({ model }) => model);
  if (currency === null)
    return (
      <>
        <p className="text-ink-2">This server has no price list, so costs are not known.</p>
        <AddPrice models={["the-model"]} />
      </>
    );
  return (
    <>
      <p className="tabular-nums">
        {formatShare(total.unpriced_tokens / tokens)}
        <span className="text-ink-3"> of {formatShortCount(tokens)} tokens</span>
      </p>
      <p className="text-xs wrap-anywhere text-ink-3">
        {names.length === 0
          ? "Their model is not known."
          : `${names.slice(0, 3).join(", ")}${names.length > 3 ? ` and ${names.length - 3} more` : ""}`}
      </p>
      {names.length > 0 && <AddPrice models={names} />}
    </>
  );
}

/** The lines for the operator to add to the price list. */
function AddPrice({ models }: { models: readonly string[] }) {
  const lines = models.map((model) => `  ${JSON.stringify(model)}: { prompt: 0.00, completion: 0.00 }`);
  return (
    <Popover
      label="How to add a price"
      isReadOnly
      trigger={
        <button type="button" className="text-accent-ink hover:underline">
          Add a price
        </button>
      }
    >
      <div className="flex flex-col gap-2 text-sm">
        <p>
          The operator of the server adds prices for a million tokens to the file that{" "}
          <code className="font-mono text-xs">PRESAGE_PRICES</code> names, and sends the server SIGHUP. They
          count for the past as well.
        </p>
        <CodeBlock code={["models:", ...lines].join("\n")} label="the price list" />
      </div>
    </Popover>
  );
}
