import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleAlert } from "lucide-react";
import { resultSummaryQuery } from "../../data/evaluation-results.ts";
import { usePresage } from "../../data/use-presage.ts";
import { formatCount } from "../../format/format-number.ts";
import { toResultFilter } from "./explorer-filter.ts";
import { changeSearch, type Verdict } from "./explorer-search.ts";
import type { Explorer } from "./use-explorer.ts";

/** How many evaluations came to no verdict, for which reason, and the way to them. */
export function NoVerdictLinks({ explorer: { search }, count }: { explorer: Explorer; count: number }) {
  const presage = usePresage();
  const { data } = useQuery(
    resultSummaryQuery(presage, toResultFilter(changeSearch(search, { verdict: "no-verdict" }))),
  );
  const failed = data === undefined ? undefined : (data.figures?.count ?? 0);
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2">
      <span className="inline-flex items-center gap-1.5 text-warn">
        <CircleAlert className="size-4" aria-hidden />
        {formatCount(count)} without a verdict
      </span>
      {failed !== undefined && failed > 0 && (
        <VerdictLink verdict="no-verdict">{formatCount(failed)} ended in an error</VerdictLink>
      )}
      {failed !== undefined && count > failed && (
        <VerdictLink verdict="unusable-input">{formatCount(count - failed)} without usable input</VerdictLink>
      )}
    </span>
  );
}

function VerdictLink({ verdict, children }: { verdict: Verdict; children: string | string[] }) {
  return (
    <Link
      from="/evaluations"
      search={(current) => changeSearch(current, { verdict })}
      resetScroll={false}
      className="rounded font-medium text-accent-ink underline decoration-accent-ink/40 underline-offset-2 hover:decoration-accent-ink"
    >
      {children}
    </Link>
  );
}
