import { useId } from "react";
import { verdicts } from "../explorer-search.ts";
import type { Explorer } from "../use-explorer.ts";
import { FilterSelect } from "./filter-select.tsx";
import { verdictWords } from "./filter-words.ts";
import { useFilterOptions } from "./use-filter-options.ts";

const verdictOptions = verdicts.map((value) => ({ value, label: verdictWords[value] }));

/** The filters that are asked for most. */
export function MainFilters({ explorer: { search, change } }: { explorer: Explorer }) {
  const { apps, evaluators, profiles } = useFilterOptions(search);
  const id = useId();
  return (
    <>
      <label htmlFor={`${id}-verdict`} className="sr-only">
        Verdict
      </label>
      <FilterSelect
        id={`${id}-verdict`}
        anyLabel="Pass or fail"
        value={search.verdict}
        options={verdictOptions}
        onSelect={(value) => change({ verdict: verdicts.find((known) => known === value) })}
      />
      <label htmlFor={`${id}-app`} className="sr-only">
        App
      </label>
      <FilterSelect
        id={`${id}-app`}
        anyLabel="Any app"
        value={search.app}
        options={apps}
        onSelect={(app) => change({ app })}
      />
      <label htmlFor={`${id}-evaluator`} className="sr-only">
        Evaluator
      </label>
      <FilterSelect
        id={`${id}-evaluator`}
        anyLabel="Any evaluator"
        value={search.evaluator}
        options={evaluators}
        onSelect={(evaluator) => change({ evaluator })}
      />
      <label htmlFor={`${id}-profile`} className="sr-only">
        Profile
      </label>
      <FilterSelect
        id={`${id}-profile`}
        anyLabel="Any profile"
        value={search.profile}
        options={profiles}
        onSelect={(profile) => change({ profile })}
      />
    </>
  );
}
