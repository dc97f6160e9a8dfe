import type { Environment } from "@presage/sdk";
import { X } from "lucide-react";
import { Button } from "../../../ui/button.tsx";
import { Choice } from "../../../ui/form/choice.tsx";
import { type EnvironmentSearch, outcomes, splits, statuses } from "./environment-search.ts";

type FilterName = "status" | "outcome" | "revision" | "split" | "index";
export type ChangedFilters = Partial<Record<FilterName, string | number | undefined>>;

interface EpisodeFiltersProps {
  environment: Environment;
  search: EnvironmentSearch;
  isFiltered: boolean;
  onChange(part: ChangedFilters): void;
  onClear(): void;
}

/** Which episodes are listed. */
export function EpisodeFilters({ environment, search, isFiltered, onChange, onClear }: EpisodeFiltersProps) {
  const { status, outcome, revision, split, index } = search;
  return (
    <search
      aria-label="Filters"
      className="flex flex-1 basis-full flex-wrap items-center gap-2 sm:basis-auto"
    >
      <Choice
        label="Status"
        any="Any status"
        value={status}
        options={statuses.map((value) => ({ value, label: value }))}
        onChange={(value) => onChange({ status: value })}
      />
      <Choice
        label="Outcome"
        any="Any outcome"
        value={outcome}
        options={outcomes.map((value) => ({ value, label: value === "none" ? "cut short" : value }))}
        onChange={(value) => onChange({ outcome: value })}
      />
      <Choice
        label="Split"
        any="Any split"
        value={split}
        options={splits
          .filter((one) => (environment.tasks[one] ?? 0) > 0)
          .map((value) => ({ value, label: value }))}
        onChange={(value) => onChange({ split: value, index: undefined })}
      />
      {environment.revision > 1 && (
        <Choice
          label="Revision"
          any="Any revision"
          value={revision === undefined ? undefined : String(revision)}
          options={Array.from({ length: environment.revision }, (_, at) => {
            const value = String(environment.revision - at);
            return { value, label: `Revision ${value}` };
          })}
          onChange={(value) => onChange({ revision: value === undefined ? undefined : Number(value) })}
        />
      )}
      {index !== undefined && (
        <Button
          size="small"
          aria-label={`Task ${index}: show all tasks`}
          onClick={() => onChange({ index: undefined })}
        >
          Task {index}
          <X aria-hidden />
        </Button>
      )}
      {isFiltered && (
        <Button size="small" variant="quiet" onClick={onClear}>
          Clear
        </Button>
      )}
    </search>
  );
}
