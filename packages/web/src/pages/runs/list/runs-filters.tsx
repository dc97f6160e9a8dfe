import type { Run } from "@presage/sdk";
import { humanizeName } from "../../../format/humanize-name.ts";
import { Button } from "../../../ui/button.tsx";
import { Choice } from "../../../ui/form/choice.tsx";
import { SearchInput } from "../../../ui/form/search-input.tsx";
import { findRuns } from "./find-runs.ts";
import { modes, type RunsSearch, statuses } from "./runs-search.ts";

interface RunsFiltersProps {
  runs: readonly Run[];
  datasets: ReadonlyMap<string, string>;
  search: RunsSearch;
  onChange(part: Partial<Record<keyof RunsSearch, string | undefined>>): void;
}

/** The filters, each value with how many runs it would leave. */
export function RunsFilters({ runs, datasets, search, onChange }: RunsFiltersProps) {
  const count = (part: Partial<RunsSearch>) => findRuns(runs, { ...search, ...part }).length;
  const used = [...new Set(runs.flatMap(({ dataset_id }) => dataset_id ?? []))];
  const isFiltered = [search.q, search.status, search.mode, search.dataset].some((one) => one !== undefined);
  return (
    <search aria-label="Filters" className="flex flex-wrap items-center gap-2">
      <SearchInput
        label="Search runs"
        words={search.q ?? ""}
        onSearch={(q) => onChange({ q: q || undefined })}
      />
      <Choice
        label="Status"
        any="Any status"
        value={search.status}
        options={statuses.map((status) => ({
          value: status,
          label: humanizeName(status),
          count: count({ status }),
        }))}
        onChange={(status) => onChange({ status })}
      />
      <Choice
        label="Mode"
        any="Any mode"
        value={search.mode}
        options={modes.map((mode) => ({ value: mode, label: humanizeName(mode), count: count({ mode }) }))}
        onChange={(mode) => onChange({ mode })}
      />
      <Choice
        label="Dataset"
        any="Any dataset"
        value={search.dataset}
        options={used.map((dataset) => ({
          value: dataset,
          label: datasets.get(dataset) ?? dataset,
          count: count({ dataset }),
        }))}
        onChange={(dataset) => onChange({ dataset })}
      />
      {isFiltered && (
        <Button
          size="small"
          variant="quiet"
          onClick={() => onChange({ q: undefined, status: undefined, mode: undefined, dataset: undefined })}
        >
          Clear
        </Button>
      )}
    </search>
  );
}
