import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { type SubmitEvent, useId, useState } from "react";
import { tagNamesQuery, tagValuesQuery } from "../../../data/evaluation/result-values.ts";
import { usePresage } from "../../../data/use-presage.ts";
import { formatCount } from "../../../format/format-number.ts";
import type { Filtering } from "../../../parts/results-search.ts";
import { Button } from "../../../ui/button.tsx";
import { Field } from "../../../ui/form/field.tsx";
import { TextInput } from "../../../ui/form/inputs.tsx";
import { ValueList } from "../../../ui/form/value-list.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { withoutTag } from "./filter-labels.ts";

export function TagFilter({ filtering: { search, change } }: { filtering: Filtering }) {
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

/** Names of tags and, once one is written, its values with their counts. */
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
