import type { StoredPredictionFilter, StoredPredictionValuesResponse } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { CalendarClock, ListFilter } from "lucide-react";
import { useState } from "react";
import { usePresage } from "../../data/client.ts";
import { storedPredictionValuesQuery } from "../../data/predictions.ts";
import {
  fromLocalInput,
  type Period,
  periodLabels,
  periods,
  timeZone,
  toLocalInput,
} from "../../format/times.ts";
import {
  categories,
  filterNames,
  type PredictionsSearch,
  sources,
  statuses,
} from "../../parts/predictions.ts";
import { present } from "../../search-params.ts";
import { Button } from "../../ui/button.tsx";
import { Field, type FieldControl } from "../../ui/form/fields.tsx";
import { TextInput } from "../../ui/form/inputs.tsx";
import { Choice } from "../../ui/form/select.tsx";
import { Popover } from "../../ui/menu.tsx";
import { SavedViews } from "../../ui/saved-views.tsx";
import { categoryLabel, sourceLabels, statusLabels } from "./prediction-columns.tsx";

const route = getRouteApi("/predictions");

export type LogChanges = { [Name in keyof PredictionsSearch]?: PredictionsSearch[Name] | undefined };

export interface PredictionLog {
  search: PredictionsSearch;
  isFiltered: boolean;
  /** Writes changes to the URL; undefined removes a value. */
  change(changes: LogChanges, options?: { replace?: boolean }): void;
}

export function useLog(): PredictionLog {
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/predictions" });
  return {
    search,
    isFiltered: filterNames.some((name) => search[name] !== undefined),
    change(changes, { replace = false } = {}) {
      navigate({
        search: (current) => changeLogSearch(current, changes),
        replace,
        resetScroll: false,
      });
    },
  };
}

export function changeLogSearch(search: PredictionsSearch, changes: LogChanges): PredictionsSearch {
  return present({ ...search, ...changes });
}

export const noFilters: LogChanges = Object.fromEntries(filterNames.map((name) => [name, undefined]));

interface LogFiltersProps {
  log: PredictionLog;
  /** The address's filters, as a request. */
  filter: StoredPredictionFilter;
}

/** All filters of predictions, with their possible values and counts: two are visible, the others are in one popover. */
export function LogFilters({ log, filter }: LogFiltersProps) {
  const { search, change } = log;
  const presage = usePresage();
  const { data: values } = useQuery(storedPredictionValuesQuery(presage, filter));
  return (
    <search aria-label="Filters" className="flex flex-wrap items-center gap-2">
      <Choice
        label="Period"
        any="Any time"
        value={search.period}
        options={periods.map((period) => ({ value: period, label: `The last ${periodLabels[period]}` }))}
        onChange={(period) => change({ period: period as Period | undefined })}
      />
      <Choice
        label="Status"
        any="Any status"
        value={search.category ?? search.status}
        options={statusOptions(search, values)}
        onChange={(value) =>
          change({
            status: statuses.find((known) => known === value),
            category: categories.find((known) => known === value),
          })
        }
      />
      <Popover label="Filters" trigger={<Button icon={<ListFilter aria-hidden />}>{nameBox(search)}</Button>}>
        <FilterBox search={search} change={change} values={values} />
      </Popover>
      <SavedViews name="predictions" search={{ ...changeLogSearch(search, { open: undefined }) }} />
    </search>
  );
}

interface FilterBoxProps extends Pick<PredictionLog, "search" | "change"> {
  values: StoredPredictionValuesResponse | undefined;
}

function FilterBox({ search, change, values }: FilterBoxProps) {
  return (
    <div className="flex flex-col gap-3">
      <Choice
        label="Source"
        any="Any source"
        value={search.source}
        options={sources.map((value) => ({
          value,
          label: sourceLabels[value],
          ...countOf(values?.source, value),
        }))}
        onChange={(source) => change({ source: sources.find((known) => known === source) })}
      />
      <Choice
        label="Deployment"
        any="Any deployment"
        value={search.deployment}
        options={named(values?.deployment)}
        onChange={(deployment) => change({ deployment })}
      />
      <Choice
        label="Model"
        any="Any model"
        value={search.model}
        options={named(values?.model)}
        onChange={(model) => change({ model })}
      />
      <Choice
        label="API key"
        any="Any key"
        value={search.key}
        options={named(values?.api_key_id)}
        onChange={(key) => change({ key })}
      />
      <Field label="Request ID" hint="The x-request-id of a response.">
        {(control) => (
          <TextFilter control={control} value={search.request} onApply={(request) => change({ request })} />
        )}
      </Field>
      <Field label="Run or episode ID">
        {(control) => <TextFilter control={control} value={search.run} onApply={(run) => change({ run })} />}
      </Field>
    </div>
  );
}

/** The start of the list: the newest prediction, the oldest, or a given time. */
export function JumpTo({ log: { search, change } }: { log: PredictionLog }) {
  return (
    <Popover
      label="Jump to"
      trigger={
        <Button size="small" variant="quiet" icon={<CalendarClock aria-hidden />}>
          Jump to
        </Button>
      }
    >
      <div className="flex flex-col gap-3">
        <form
          className="flex items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            const until = fromLocalInput(String(new FormData(event.currentTarget).get("until")));
            if (until !== undefined) change({ until, order: undefined }, { replace: true });
          }}
        >
          <Field label="Before this time" aside={<span className="text-xs text-ink-3">{timeZone}</span>}>
            {(control) => (
              <TextInput
                {...control}
                name="until"
                type="datetime-local"
                defaultValue={toLocalInput(search.until)}
              />
            )}
          </Field>
          <Button type="submit">Go</Button>
        </form>
        <div className="flex gap-2">
          <Button onClick={() => change({ until: undefined, order: undefined })}>To the newest</Button>
          <Button onClick={() => change({ order: "oldest" })}>To the oldest</Button>
        </div>
      </div>
    </Popover>
  );
}

/** The options success, failure, and each reason for a failure. */
function statusOptions(
  { status, category }: PredictionsSearch,
  values: StoredPredictionValuesResponse | undefined,
) {
  return [
    ...statuses.map((value) => ({
      value,
      label: statusLabels[value],
      ...countOf(category === undefined ? values?.status : undefined, value),
    })),
    ...categories.map((value) => ({
      value,
      label: `Failed: ${categoryLabel(value)}`,
      ...countOf(status === "success" ? undefined : values?.category, value),
    })),
  ];
}

type Values = StoredPredictionValuesResponse["source"];

/** No count while counts are loading, or if they would be counts of something else: such options stay available. */
function countOf(values: Values | undefined, value: string): { count?: number } {
  if (values === undefined) return {};
  return { count: values.find((known) => known.value === value)?.count ?? 0 };
}

function named(values: Values = []) {
  return values.map(({ value, name, count }) => ({ value, label: name ?? value, count }));
}

const boxed = ["source", "deployment", "model", "key", "request", "run"] as const;

function nameBox(search: PredictionsSearch): string {
  const active = boxed.filter((name) => search[name] !== undefined).length;
  return active === 0 ? "Filters" : `Filters (${active})`;
}

interface TextFilterProps {
  /** The attributes that link the input to its label. */
  control: FieldControl;
  value: string | undefined;
  onApply(text: string | undefined): void;
}

/** A filter by an exact text, applied by Enter or on leaving the field. */
function TextFilter({ control, value = "", onApply }: TextFilterProps) {
  const [state, setState] = useState({ typed: value, seen: value });
  // The address was changed elsewhere.
  if (value !== state.seen) setState({ typed: value, seen: value });
  const apply = () => {
    const text = state.typed.trim();
    if (text !== value) onApply(text === "" ? undefined : text);
  };
  return (
    <TextInput
      {...control}
      value={state.typed}
      onChange={({ target }) => setState({ ...state, typed: target.value })}
      onBlur={apply}
      onKeyDown={({ key }) => key === "Enter" && apply()}
    />
  );
}
