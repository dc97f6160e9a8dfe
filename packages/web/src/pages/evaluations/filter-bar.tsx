import { ListFilter, X } from "lucide-react";
import { useState } from "react";
import { exactTime, type Period, periodBounds, periodLabels, periods } from "../../format/times.ts";
import { plainName, withoutVersion } from "../../format/words.ts";
import { DatasetName } from "../../parts/datasets.tsx";
import { changeSearch, type Filtering, verdictLabels, verdicts } from "../../parts/results/results-search.ts";
import { RunName } from "../../parts/runs.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/form/fields.tsx";
import { Popover } from "../../ui/menu.tsx";
import { SavedViews } from "../../ui/saved-views.tsx";
import { useNow } from "../../ui/time.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";
import { FilterSelect, type FilterSelectProps, useFilterOptions } from "./filter-fields.tsx";
import { MoreFilters } from "./more-filters.tsx";
import { type ActiveFilter, activeFilters, noFilters } from "./results-filter.ts";

/** The filters; on narrow screens, all of them are in a dialog. */
export function FilterBar({ filtering }: { filtering: Filtering }) {
  const [isSheetOpen, setSheetOpen] = useState(false);
  const mainFilters = useMainFilters(filtering);
  const count = activeFilters(filtering.search).length;
  const views = {
    name: "evaluations",
    search: { ...changeSearch(filtering.search, { result: undefined }) },
  };
  return (
    <div className="flex flex-col gap-2">
      <div className="hidden flex-wrap items-center gap-2 md:flex">
        {mainFilters.map(({ label, ...filter }) => (
          <FilterSelect key={label} aria-label={label} className="w-36" {...filter} />
        ))}
        <Popover label="Filters" trigger={<Button icon={<ListFilter aria-hidden />}>Filters</Button>}>
          <MoreFilters filtering={filtering} />
        </Popover>
        <SavedViews {...views} />
      </div>
      <div className="flex gap-2 md:hidden">
        <Button icon={<ListFilter aria-hidden />} onClick={() => setSheetOpen(true)}>
          Filters{count > 0 && ` (${count})`}
        </Button>
        <SavedViews {...views} />
        <Dialog isOpen={isSheetOpen} onClose={() => setSheetOpen(false)} title="Filters">
          <div className="flex flex-col gap-3 pt-1">
            <div className="grid grid-cols-2 gap-3">
              {mainFilters.map(({ label, ...filter }) => (
                <Field key={label} label={label}>
                  {(control) => <FilterSelect {...control} {...filter} />}
                </Field>
              ))}
            </div>
            <MoreFilters filtering={filtering} />
            <Button variant="primary" className="self-end" onClick={() => setSheetOpen(false)}>
              Show the results
            </Button>
          </div>
        </Dialog>
      </div>
      <ActiveFilters filtering={filtering} />
    </div>
  );
}

type MainFilter = Pick<FilterSelectProps, "anyLabel" | "value" | "options" | "onSelect"> & { label: string };

const verdictOptions = verdicts.map((value) => ({ value, label: verdictLabels[value] }));

/** The most common filters. */
function useMainFilters(filtering: Filtering): MainFilter[] {
  const { search, change } = filtering;
  const period = usePeriodFilter(filtering);
  const evaluators = useFilterOptions(search, "evaluator");
  const runs = useFilterOptions(search, "run");
  return [
    { label: "Period", ...period },
    {
      label: "Run",
      anyLabel: "Any run",
      value: search.run,
      options: runs.slice(0, 200),
      onSelect: (run) => change({ run, direct: undefined }),
    },
    {
      label: "Verdict",
      anyLabel: "Any verdict",
      value: search.verdict,
      options: verdictOptions,
      onSelect: (value) => change({ verdict: verdicts.find((known) => known === value) }),
    },
    {
      label: "Evaluator",
      anyLabel: "Any evaluator",
      value: search.evaluator,
      options: evaluators,
      onSelect: (evaluator) => change({ evaluator }),
    },
  ];
}

const custom = "custom";

/** How far back to look. The address contains the start time itself, so that a link shows everyone the same. */
function usePeriodFilter({
  search: { since, until },
  change,
}: Filtering): Pick<FilterSelectProps, "anyLabel" | "value" | "options" | "onSelect"> {
  const nowMs = useNow();
  const startOf = (period: Period) => periodBounds(period, nowMs).since;
  const chosen = periods.find(
    (period) => since !== undefined && Date.parse(startOf(period)) === Date.parse(since),
  );
  const isCustom = until !== undefined || (since !== undefined && chosen === undefined);
  const options = periods.map((period) => ({
    value: period as string,
    label: `The last ${periodLabels[period]}`,
  }));
  return {
    anyLabel: "Any time",
    value: isCustom ? custom : chosen,
    options: isCustom ? [...options, { value: custom, label: nameRange(since, until) }] : options,
    onSelect(value) {
      if (value === custom) return;
      const period = periods.find((known) => known === value);
      change({ since: period && startOf(period), until: undefined });
    },
  };
}

function nameRange(since: string | undefined, until: string | undefined): string {
  const from = since === undefined ? "" : `since ${exactTime(since)}`;
  const to = until === undefined ? "" : `until ${exactTime(until)}`;
  const words = `${from} ${to}`.trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function ActiveFilters({ filtering: { search, change } }: { filtering: Filtering }) {
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

/** Runs and datasets are shown by name, as their ids mean little to people. */
function FilterValue({ filter: { key, value } }: { filter: Pick<ActiveFilter, "key" | "value"> }) {
  if (key === "run") return <RunName id={value} />;
  if (key === "dataset") return <DatasetName id={value} />;
  if (key === "evaluator") return <InlineText text={withoutVersion(value)} />;
  if (key === "profile") return <InlineText text={plainName(value)} />;
  return <InlineText text={value} />;
}
