import { verdicts } from "../explorer-search.ts";
import type { Explorer } from "../use-explorer.ts";
import { verdictWords } from "./filter-labels.ts";
import type { FilterSelectProps } from "./filter-select.tsx";
import { useFilterOptions } from "./use-filter-options.ts";

type MainFilter = Pick<FilterSelectProps, "anyLabel" | "value" | "options" | "onSelect"> & { label: string };

const verdictOptions = verdicts.map((value) => ({ value, label: verdictWords[value] }));

/** The filters that are asked for most. */
export function useMainFilters({ search, change }: Explorer): MainFilter[] {
  const { apps, evaluators, profiles } = useFilterOptions(search);
  return [
    {
      label: "Verdict",
      anyLabel: "Every verdict",
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
