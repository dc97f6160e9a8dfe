import { ListFilter } from "lucide-react";
import { useState } from "react";
import { changeSearch, type Filtering, verdictLabels, verdicts } from "../../../parts/results-search.ts";
import { Button } from "../../../ui/button.tsx";
import { Field } from "../../../ui/form/field.tsx";
import { Dialog } from "../../../ui/overlay/dialog.tsx";
import { Popover } from "../../../ui/overlay/popover.tsx";
import { SavedViews } from "../../../ui/saved-views/saved-views.tsx";
import { ActiveFilters } from "./active-filters.tsx";
import { activeFilters } from "./filter-labels.ts";
import { FilterSelect, type FilterSelectProps } from "./filter-select.tsx";
import { MoreFilters } from "./more-filters.tsx";
import { usePeriodFilter } from "./period-filter.tsx";
import { useFilterOptions } from "./use-filter-options.ts";

/** On narrow screens, all filters are in a dialog. */
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
          <FilterSelect key={label} aria-label={label} className="w-40" {...filter} />
        ))}
        <Popover
          label="More filters"
          trigger={<Button icon={<ListFilter aria-hidden />}>More filters</Button>}
        >
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
  const apps = useFilterOptions(search, "app", search.app);
  const evaluators = useFilterOptions(search, "evaluator", search.evaluator);
  const profiles = useFilterOptions(search, "profile", search.profile);
  return [
    { label: "Period", ...period },
    {
      label: "Verdict",
      anyLabel: "Any verdict",
      value: search.verdict,
      options: verdictOptions,
      onSelect: (value) => change({ verdict: verdicts.find((known) => known === value) }),
    },
    {
      label: "App",
      anyLabel: "Any app",
      value: search.app,
      options: apps,
      onSelect: (app) => change({ app }),
    },
    {
      label: "Evaluator",
      anyLabel: "Any evaluator",
      value: search.evaluator,
      options: evaluators,
      onSelect: (evaluator) => change({ evaluator }),
    },
    {
      label: "Profile",
      anyLabel: "Any profile",
      value: search.profile,
      options: profiles,
      onSelect: (profile) => change({ profile }),
    },
  ];
}
