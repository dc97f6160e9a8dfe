import { countTokens, shareOf, type UsageFigures } from "../../data/usage.ts";
import { formatCost, formatCount, formatShare } from "../../format/numbers.ts";
import type { DataColumn } from "../../ui/data-table/columns.ts";

/** Requests, costs and tokens beside those of `all`. With a currency there are costs. */
export function usageColumns(all: UsageFigures, currency: string | null): DataColumn<UsageFigures>[] {
  const requestShare = ({ requests }: UsageFigures) => shareOf(requests, all.requests);
  const tokenShare = (figures: UsageFigures) => shareOf(countTokens(figures), countTokens(all));
  const cost: DataColumn<UsageFigures> = {
    ...count("cost", "Cost", (figures) => figures.cost, 104),
    cell: (figures) => (currency === null ? "–" : formatCost(figures.cost, currency)),
  };
  return [
    count("requests", "Requests", ({ requests }) => requests, 90),
    share("share", "Share", requestShare, 86),
    {
      ...count("failed", "Failed", ({ failed }) => failed, 120),
      cell: ({ failed, requests }) => (
        <>
          {formatCount(failed)}{" "}
          <span className="inline-block min-w-12 text-ink-3">{formatShare(shareOf(failed, requests))}</span>
        </>
      ),
    },
    // Where the table is wider than the page, costs are still in sight.
    ...(currency === null ? [] : [cost]),
    count("prompt", "Prompt tokens", ({ promptTokens }) => promptTokens, 110),
    count("completion", "Completion tokens", ({ completionTokens }) => completionTokens, 134),
    share("token-share", "Share of tokens", tokenShare, 120),
    count("cached", "Cached tokens", ({ cachedTokens }) => cachedTokens, 116),
  ];
}

function count(
  id: string,
  label: string,
  value: (figures: UsageFigures) => number | null,
  widthPx: number,
): DataColumn<UsageFigures> {
  return {
    id,
    label,
    value,
    cell: (figures) => formatCount(value(figures)),
    isNumber: true,
    widthPx,
  };
}

function share(
  id: string,
  label: string,
  value: (figures: UsageFigures) => number | null,
  widthPx: number,
): DataColumn<UsageFigures> {
  return {
    ...count(id, label, value, widthPx),
    cell: (figures) => <span className="text-ink-2">{formatShare(value(figures))}</span>,
  };
}

/** What the costs leave out. */
export function describeUnpriced({ unpricedTokens }: UsageFigures): string | undefined {
  if (unpricedTokens === 0) return undefined;
  return `Costs leave out ${formatCount(unpricedTokens)} tokens whose model has no price or is not known.`;
}
