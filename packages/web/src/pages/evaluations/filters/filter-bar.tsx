import { ListFilter } from "lucide-react";
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Field } from "../../../ui/form/field.tsx";
import { Dialog } from "../../../ui/overlay/dialog.tsx";
import { Popover } from "../../../ui/overlay/popover.tsx";
import { verdicts } from "../explorer-search.ts";
import type { Explorer } from "../use-explorer.ts";
import { ActiveFilters } from "./active-filters.tsx";
import { activeFilters, verdictLabels } from "./filter-labels.ts";
import { FilterSelect, type FilterSelectProps } from "./filter-select.tsx";
import { MoreFilters } from "./more-filters.tsx";
import { useFilterOptions } from "./use-filter-options.ts";

/** On narrow screens, all filters are in a dialog. */
export function FilterBar({ explorer }: { explorer: Explorer }) {
  const [isSheetOpen, setSheetOpen] = useState(false);
  const mainFilters = useMainFilters(explorer);
  const count = activeFilters(explorer.search).length;
  return (
    <div className="flex flex-col gap-2">
      <div className="hidden flex-wrap items-center gap-2 md:flex">
        {mainFilters.map(({ label, ...filter }) => (
          <FilterSelect key={label} aria-label={label} className="w-44" {...filter} />
        ))}
        <Popover
          label="More filters"
          trigger={<Button icon={<ListFilter aria-hidden />}>More filters</Button>}
        >
          <MoreFilters explorer={explorer} />
        </Popover>
      </div>
      <div className="md:hidden">
        <Button icon={<ListFilter aria-hidden />} onClick={() => setSheetOpen(true)}>
          Filters{count > 0 && ` (${count})`}
        </Button>
        <Dialog isOpen={isSheetOpen} onClose={() => setSheetOpen(false)} title="Filters">
          <div className="flex flex-col gap-3 pt-1">
            <div className="grid grid-cols-2 gap-3">
              {mainFilters.map(({ label, ...filter }) => (
                <Field key={label} label={label}>
                  {(control) => <FilterSelect {...control} {...filter} />}
                </Field>
              ))}
            </div>
            <MoreFilters explorer={explorer} />
          </div>
        </Dialog>
      </div>
      <ActiveFilters explorer={explorer} />
    </div>
  );
}

type MainFilter = Pick<FilterSelectProps, "anyLabel" | "value" | "options" | "onSelect"> & { label: string };

const verdictOptions = verdicts.map((value) => ({ value, label: verdictLabels[value] }));

/** The most common filters. */
function useMainFilters({ search, change }: Explorer): MainFilter[] {
  const { apps, evaluators, profiles } = useFilterOptions(search);
  return [
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
