import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { type SubmitEvent, useId, useState } from "react";
import { usePresage } from "../../data/client.ts";
import { tagNamesQuery, tagValuesQuery } from "../../data/result-values.ts";
import { formatCount } from "../../format/numbers.ts";
import { fromLocalInput, timeZone, toLocalInput } from "../../format/times.ts";
import type { Filtering, ResultsSearch } from "../../parts/results/results-search.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/form/fields.tsx";
import { TextInput } from "../../ui/form/inputs.tsx";
import { ValueList } from "../../ui/form/select.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";
import { DebouncedInput, FilterSelect, useFilterOptions } from "./filter-fields.tsx";
import { withoutTag } from "./results-filter.ts";

export function MoreFilters({ filtering }: { filtering: Filtering }) {
  const { search, change } = filtering;
  const apps = useFilterOptions(search, "app");
  const profiles = useFilterOptions(search, "profile");
  const runs = useFilterOptions(search, "run");
  const runListId = useId();
  return (
    <div className="flex flex-col gap-3">
      <div className="grid grid-cols-2 gap-3">
        <Field label="Profile">
          {(control) => (
            <FilterSelect
              {...control}
              anyLabel="Any profile"
              value={search.profile}
              options={profiles}
              onSelect={(profile) => change({ profile })}
            />
          )}
        </Field>
        <Field label="App">
          {(control) => (
            <FilterSelect
              {...control}
              anyLabel="Any app"
              value={search.app}
              options={apps}
              onSelect={(app) => change({ app })}
            />
          )}
        </Field>
      </div>
      <div className="grid grid-cols-2 gap-3">
        <ScoreFilter filtering={filtering} name="min_score" label="Score from" />
        <ScoreFilter filtering={filtering} name="max_score" label="Score to" />
      </div>
      <TagFilter filtering={filtering} />
      <div className="grid grid-cols-2 gap-3">
        <Field label="Run ID">
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
        <TextFilter filtering={filtering} name="dataset" label="Dataset" />
        <TextFilter filtering={filtering} name="sample" label="Sample" />
      </div>
      <TimeFilter filtering={filtering} name="since" label="Since" />
      <TimeFilter filtering={filtering} name="until" label="Until" />
    </div>
  );
}

interface FilterProps<Name extends keyof ResultsSearch> {
  filtering: Filtering;
  name: Name;
  label: string;
}

function TextFilter({ filtering: { search, change }, name, label }: FilterProps<"dataset" | "sample">) {
  return (
    <Field label={label}>
      {(control) => (
        <DebouncedInput
          {...control}
          value={search[name] ?? ""}
          onApply={(text) => change({ [name]: text || undefined })}
        />
      )}
    </Field>
  );
}

function ScoreFilter({ filtering: { search, change }, name, label }: FilterProps<"min_score" | "max_score">) {
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

function TimeFilter({ filtering: { search, change }, name, label }: FilterProps<"since" | "until">) {
  return (
    <Field label={label} aside={<span className="text-xs text-ink-3">{timeZone}</span>}>
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

function TagFilter({ filtering: { search, change } }: { filtering: Filtering }) {
  const [draft, setDraft] = useState("");
  const [isInvalid, setInvalid] = useState(false);
  const tags = search.tag ?? [];
  const listId = useId();
  const suggestions = useTagSuggestions(draft);

  function add(event: SubmitEvent) {
    event.preventDefault();
    const tag = draft.trim();
    if (tag.indexOf("=") < 1) return setInvalid(true);
    change({ tag: [...new Set([...tags, tag])] });
    setDraft("");
  }

  return (
    <form onSubmit={add}>
      <Field label="Tags" hint="All must match." issue={isInvalid ? "Write a tag as name=value." : undefined}>
        {(control) => (
          <div className="flex gap-2">
            <TextInput
              {...control}
              list={listId}
              value={draft}
              placeholder="name=value"
              onChange={(event) => {
                setDraft(event.target.value);
                setInvalid(false);
              }}
            />
            <ValueList id={listId} options={suggestions} />
            <Button type="submit" icon={<Plus aria-hidden />}>
              Add
            </Button>
          </div>
        )}
      </Field>
      {tags.length > 0 && (
        <ul className="mt-2 flex flex-wrap gap-1.5">
          {tags.map((tag) => (
            <li key={tag} className="min-w-0">
              <button
                type="button"
                onClick={() => change({ tag: withoutTag(tags, tag) })}
                className="inline-flex h-6 max-w-full items-center gap-1 rounded border border-line bg-sunken px-1.5 text-xs hover:bg-hover"
              >
                <span className="sr-only">Remove the tag</span>
                <span className="truncate">
                  <InlineText text={tag} />
                </span>
                <X className="size-3 shrink-0" aria-hidden />
              </button>
            </li>
          ))}
        </ul>
      )}
    </form>
  );
}

/** Names of tags; once a name has been entered, its values with their counts. */
function useTagSuggestions(draft: string): { value: string; label?: string }[] {
  const presage = usePresage();
  const end = draft.indexOf("=");
  const name = end > 0 ? draft.slice(0, end) : undefined;
  const { data: names = [] } = useQuery(tagNamesQuery(presage));
  const isKnown = name !== undefined && names.includes(name);
  const { data: values = [] } = useQuery({ ...tagValuesQuery(presage, name ?? ""), enabled: isKnown });
  if (!isKnown) return names.map((known) => ({ value: `${known}=` }));
  return values.map(({ value, count }) => ({
    value: `${name}=${value}`,
    label: count === undefined ? value : `${value} · ${formatCount(count)}`,
  }));
}
