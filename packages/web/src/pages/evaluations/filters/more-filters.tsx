import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { runNamesQuery } from "../../../data/runs/run-names.ts";
import { usePresage } from "../../../data/use-presage.ts";
import { explainLabels, explainStrategies, type Filtering } from "../../../parts/results-search.ts";
import { Field } from "../../../ui/form/field.tsx";
import { Segmented } from "../../../ui/form/segmented.tsx";
import { ValueList } from "../../../ui/form/value-list.tsx";
import { DebouncedInput } from "./debounced-input.tsx";
import { FilterSelect } from "./filter-select.tsx";
import { fromLocalInput, toLocalInput } from "./local-time.ts";
import { TagFilter } from "./tag-filter.tsx";
import { useFilterOptions } from "./use-filter-options.ts";

const explainOptions = explainStrategies.map((value) => ({ value, label: explainLabels[value] }));
const orders = [
  { value: "newest", label: "Newest first" },
  { value: "oldest", label: "Oldest first" },
] as const;

export function MoreFilters({ filtering }: { filtering: Filtering }) {
  const { search, change } = filtering;
  const families = useFilterOptions(search, "family", search.family);
  const { data: nameOf } = useQuery(runNamesQuery(usePresage()));
  const runs = useFilterOptions(search, "run", undefined).map(({ value, label }) => {
    const name = nameOf?.get(value);
    return { value, label: name === undefined ? label : `${name} · ${label}` };
  });
  const runListId = useId();
  return (
    <div className="flex flex-col gap-3">
      <div className="grid grid-cols-2 gap-3">
        <ScoreFilter filtering={filtering} name="min_score" label="Score from" />
        <ScoreFilter filtering={filtering} name="max_score" label="Score to" />
      </div>
      <TagFilter filtering={filtering} />
      <div className="grid grid-cols-2 gap-3">
        <Field label="Run">
          {(control) => (
            <DebouncedInput
              {...control}
              list={runListId}
              value={search.run ?? ""}
              onApply={(run) => change({ run: run || undefined, direct: undefined })}
            />
          )}
        </Field>
        <ValueList id={runListId} options={runs} />
        <Field label="Dataset">
          {(control) => (
            <DebouncedInput
              {...control}
              value={search.dataset ?? ""}
              onApply={(dataset) => change({ dataset: dataset || undefined })}
            />
          )}
        </Field>
        <Field label="Sample">
          {(control) => (
            <DebouncedInput
              {...control}
              value={search.sample ?? ""}
              onApply={(sample) => change({ sample: sample || undefined })}
            />
          )}
        </Field>
        <Field label="Family">
          {(control) => (
            <FilterSelect
              {...control}
              anyLabel="Any family"
              value={search.family}
              options={families}
              onSelect={(family) => change({ family })}
            />
          )}
        </Field>
        <Field label="Explained">
          {(control) => (
            <FilterSelect
              {...control}
              anyLabel="Any strategy"
              value={search.explain}
              options={explainOptions}
              onSelect={(value) => change({ explain: explainStrategies.find((known) => known === value) })}
            />
          )}
        </Field>
      </div>
      <TimeFilter filtering={filtering} name="since" label="Since" />
      <TimeFilter filtering={filtering} name="until" label="Until" />
      <div className="flex items-center justify-between gap-2">
        <span className="text-sm font-medium">Order</span>
        <Segmented
          label="Order"
          value={search.order ?? "newest"}
          options={orders}
          onChange={(order) => change({ order: order === "oldest" ? order : undefined })}
        />
      </div>
    </div>
  );
}

function ScoreFilter({
  filtering: { search, change },
  name,
  label,
}: {
  filtering: Filtering;
  name: "min_score" | "max_score";
  label: string;
}) {
  return (
    <Field label={label} hint="0 to 1">
      {(control) => (
        <DebouncedInput
          {...control}
          type="number"
          inputMode="decimal"
          min={0}
          max={1}
          step={0.01}
          value={search[name]?.toString() ?? ""}
          onApply={(text) =>
            change({ [name]: text === "" ? undefined : Math.min(1, Math.max(0, Number(text))) })
          }
        />
      )}
    </Field>
  );
}

function TimeFilter({
  filtering: { search, change },
  name,
  label,
}: {
  filtering: Filtering;
  name: "since" | "until";
  label: string;
}) {
  return (
    <Field label={label} aside={<span className="text-xs text-ink-3">your time zone</span>}>
      {(control) => (
        <DebouncedInput
          {...control}
          type="datetime-local"
          value={toLocalInput(search[name])}
          onApply={(text) => change({ [name]: fromLocalInput(text) })}
        />
      )}
    </Field>
  );
}
