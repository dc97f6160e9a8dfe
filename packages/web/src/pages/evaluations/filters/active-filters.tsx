import { X } from "lucide-react";
import { Button } from "../../../ui/button.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { RunName } from "../../runs/run-link.tsx";
import type { Explorer } from "../use-explorer.ts";
import { activeFilters, noFilters } from "./filter-labels.ts";

export function ActiveFilters({ explorer: { search, change } }: { explorer: Explorer }) {
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
              {key === "run" ? <RunName id={value} /> : <InlineText text={value} />}
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
