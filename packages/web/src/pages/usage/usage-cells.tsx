import { countTokens, shareOf, type UsageFigures } from "../../data/figures/usage-figures.ts";
import { formatCost, formatCount, formatShare } from "../../format/format-number.ts";
import { Cell, HeaderCell } from "../../ui/table.tsx";

const requestColumns = ["Requests", "Share", "Failed"];
const tokenColumns = ["Prompt tokens", "Completion tokens", "Share of tokens", "Cached tokens"];

/** With a currency there are costs. */
export function UsageHeaderCells({ currency }: { currency: string | null }) {
  // Where the table is wider than the page, costs are still in sight.
  const costColumns = currency === null ? [] : ["Cost"];
  return [...requestColumns, ...costColumns, ...tokenColumns].map((column) => (
    <HeaderCell key={column} isNumber>
      {column}
    </HeaderCell>
  ));
}

interface UsageCellsProps {
  figures: UsageFigures;
  all: UsageFigures;
  currency: string | null;
}

export function UsageCells({ figures, all, currency }: UsageCellsProps) {
  const failedShare = shareOf(figures.failed, figures.requests);
  return (
    <>
      <Cell isNumber>{formatCount(figures.requests)}</Cell>
      <Cell isNumber className="text-ink-2">
        {formatShare(shareOf(figures.requests, all.requests))}
      </Cell>
      <Cell isNumber>
        {formatCount(figures.failed)}{" "}
        <span className="inline-block min-w-12 text-ink-3">{formatShare(failedShare)}</span>
      </Cell>
      {currency !== null && <Cell isNumber>{formatCost(figures.cost, currency)}</Cell>}
      <Cell isNumber>{formatCount(figures.promptTokens)}</Cell>
      <Cell isNumber>{formatCount(figures.completionTokens)}</Cell>
      <Cell isNumber className="text-ink-2">
        {formatShare(shareOf(countTokens(figures), countTokens(all)))}
      </Cell>
      <Cell isNumber>{formatCount(figures.cachedTokens)}</Cell>
    </>
  );
}

/** What the costs leave out. */
export function describeUnpriced({ unpricedTokens }: UsageFigures): string | undefined {
  if (unpricedTokens === 0) return undefined;
  return `Costs leave out ${formatCount(unpricedTokens)} tokens whose model has no price or is not known.`;
}
