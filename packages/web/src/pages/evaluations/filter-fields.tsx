import { useQuery } from "@tanstack/react-query";
import { type ComponentProps, type InputHTMLAttributes, useEffect, useRef, useState } from "react";
import { usePresage } from "../../data/client.ts";
import { type Facet, resultValuesQuery } from "../../data/result-values.ts";
import { runNamesQuery } from "../../data/runs.ts";
import { formatCount } from "../../format/numbers.ts";
import { plainName, shortEvaluatorNames } from "../../format/words.ts";
import type { ResultsSearch } from "../../parts/results/results-search.ts";
import { TextInput } from "../../ui/form/inputs.tsx";
import { Select } from "../../ui/form/select.tsx";
import { toResultFilter } from "./results-filter.ts";

export interface FilterSelectProps
  extends Omit<ComponentProps<typeof Select<string>>, "value" | "onChange" | "onSelect"> {
  /** The label of no choice, for example “Any app”. */
  anyLabel: string;
  value: string | undefined;
  onSelect(value: string | undefined): void;
}

export function FilterSelect({ anyLabel, value, options, onSelect, ...rest }: FilterSelectProps) {
  return (
    <Select
      {...rest}
      value={value ?? ""}
      options={[{ value: "", label: anyLabel }, ...options]}
      onChange={(chosen) => onSelect(chosen || undefined)}
    />
  );
}

type Rest = Omit<InputHTMLAttributes<HTMLInputElement>, "value" | "onChange" | "onBlur" | "onKeyDown">;

/** A text filter that does not query the server on every keystroke. */
export function DebouncedInput({
  value,
  onApply,
  ...rest
}: Rest & { value: string; onApply(text: string): void }) {
  const text = useDebouncedText(value, onApply);
  return (
    <TextInput
      {...rest}
      value={text.value}
      onChange={(event) => text.onChange(event.target.value)}
      onBlur={text.onLeave}
      onKeyDown={(event) => event.key === "Enter" && text.onLeave()}
    />
  );
}

const pauseMs = 500;

/** A text that is applied when the user pauses or leaves the field. A change from elsewhere replaces it. */
function useDebouncedText(value: string, apply: (text: string) => void) {
  const [draft, setDraft] = useState(value);
  const [seen, setSeen] = useState(value);
  const [applied, setApplied] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const waiting = useRef<() => void>(undefined);
  useEffect(() => {
    const { pathname } = location;
    return () => {
      // A closing popover removes its field before it can lose the focus. After leaving the page there is nothing to filter.
      if (location.pathname === pathname) waiting.current?.();
      clearTimeout(timer.current);
    };
  }, []);
  if (value !== seen) {
    setSeen(value);
    // Ignore the echo of our own change: the user may have typed more by now.
    if (value !== applied) setDraft(value);
    setApplied(value);
  }

  function applyNow(text: string): void {
    clearTimeout(timer.current);
    waiting.current = undefined;
    const wanted = text.trim();
    if (wanted === value) return;
    setApplied(wanted);
    apply(wanted);
  }

  return {
    value: draft,
    onChange(text: string) {
      setDraft(text);
      clearTimeout(timer.current);
      waiting.current = () => applyNow(text);
      timer.current = setTimeout(waiting.current, pauseMs);
    },
    onLeave: () => applyNow(draft),
  };
}

interface FilterOption {
  value: string;
  /** Includes the number of results that the choice would leave. */
  label: string;
}

/** The values that the matching results have. */
export function useFilterOptions(search: ResultsSearch, facet: Facet): FilterOption[] {
  const presage = usePresage();
  const { data: values = [] } = useQuery(resultValuesQuery(presage, toResultFilter(search), facet));
  const { data: runs } = useQuery({ ...runNamesQuery(presage), enabled: facet === "run" });
  const evaluators = shortEvaluatorNames(facet === "evaluator" ? values.map(({ value }) => value) : []);
  const names: Partial<Record<Facet, (value: string) => string>> = {
    evaluator: evaluators,
    profile: plainName,
    run: (value) => runs?.get(value) ?? value,
  };
  return values.map(({ value, count }) => {
    const name = names[facet]?.(value) ?? value;
    return { value, label: count === undefined ? name : `${name} · ${formatCount(count)}` };
  });
}
