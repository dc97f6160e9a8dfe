import { countTokens, shareOf, type UsageFigures } from "../../data/figures/usage-figures.ts";
import { formatCount, formatShare } from "../../format/format-number.ts";
import { Cell, HeaderCell } from "../../ui/table.tsx";

const columns = [
  "Requests",
  "Share",
  "Failed",
  "Prompt tokens",
  "Completion tokens",
  "Share of tokens",
  "Cached tokens",
];

export function UsageHeaderCells() {
  return columns.map((column) => (
    <HeaderCell key={column} isNumber>
      {column}
    </HeaderCell>
  ));
}

export function UsageCells({ figures, all }: { figures: UsageFigures; all: UsageFigures }) {
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
      <Cell isNumber>{formatCount(figures.promptTokens)}</Cell>
      <Cell isNumber>{formatCount(figures.completionTokens)}</Cell>
      <Cell isNumber className="text-ink-2">
        {formatShare(shareOf(countTokens(figures), countTokens(all)))}
      </Cell>
      <Cell isNumber>{formatCount(figures.cachedTokens)}</Cell>
    </>
  );
}
