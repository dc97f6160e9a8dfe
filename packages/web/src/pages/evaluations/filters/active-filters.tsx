import { X } from "lucide-react";
import type { Filtering } from "../../../parts/results-search.ts";
import { Button } from "../../../ui/button.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { DatasetName } from "../../datasets/dataset-link.tsx";
import { RunName } from "../../runs/run-link.tsx";
import { type ActiveFilter, activeFilters, noFilters } from "./filter-labels.ts";

export function ActiveFilters({ filtering: { search, change } }: { filtering: Filtering }) {
  const filters = activeFilters(search);
  if (filters.length === 0) return null;
  return (
    <ul aria-label="Active filters" className="flex flex-wrap items-center gap-1.5">
      {filters.map(({ key, name, value, removal }) => (
        <li key={key} className="min-w-0">
          <button
            type="button"
            onClick={() => change(removal)}
            className="inline-flex h-7 max-w-full items-center gap-1.5 rounded-md border border-line bg-accent-soft pr-1.5 pl-2 text-xs text-accent-ink hover:border-accent"
          >
            <span className="sr-only">Remove the filter</span>
            <span className="shrink-0 opacity-80">{name}</span>
            <span className="max-w-64 truncate font-medium">
              <FilterValue filter={{ key, value }} />
            </span>
            <X className="size-3.5 shrink-0" aria-hidden />
          </button>
        </li>
      ))}
      <li>
        <Button size="small" variant="quiet" onClick={() => change(noFilters(search))}>
          Clear
        </Button>
      </li>
    </ul>
  );
}

/** Runs and datasets have names that say more than their ids. */
function FilterValue({ filter: { key, value } }: { filter: Pick<ActiveFilter, "key" | "value"> }) {
  if (key === "run") return <RunName id={value} />;
  if (key === "dataset") return <DatasetName id={value} />;
  return <InlineText text={value} />;
}
