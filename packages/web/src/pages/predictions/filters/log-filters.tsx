import { useQuery } from "@tanstack/react-query";
import { apiKeysQuery } from "../../../data/api-keys.ts";
import { deploymentsQuery } from "../../../data/deployments.ts";
import { type Period, periodLabels, periods } from "../../../data/figures/period.ts";
import { usePresage } from "../../../data/use-presage.ts";
import { Button } from "../../../ui/button.tsx";
import { Choice } from "../../../ui/form/choice.tsx";
import { categoryLabel, sourceLabels, statusLabels } from "../prediction-labels.ts";
import { categories, sources, statuses } from "../predictions-search.ts";
import { noFilters, type PredictionLog } from "../use-log.ts";
import { TextFilter } from "./text-filter.tsx";

/** Everything that predictions can be filtered by. */
export function LogFilters({ log: { search, change, isFiltered } }: { log: PredictionLog }) {
  const presage = usePresage();
  const { data: deployments } = useQuery(deploymentsQuery(presage));
  const { data: keys } = useQuery(apiKeysQuery(presage));
  return (
    <search aria-label="Filters" className="flex flex-wrap items-center gap-2">
      <Choice
        label="Period"
        any="Any time"
        value={search.period}
        options={periods.map((period) => ({ value: period, label: `Last ${periodLabels[period]}` }))}
        onChange={(period) => change({ period: period as Period | undefined })}
      />
      <Choice
        label="Source"
        any="Any source"
        value={search.source}
        options={sources.map((value) => ({ value, label: sourceLabels[value] }))}
        onChange={(source) => change({ source: sources.find((known) => known === source) })}
      />
      <Choice
        label="Status"
        any="Any status"
        value={search.category ?? search.status}
        options={[
          ...statuses.map((value) => ({ value, label: statusLabels[value] })),
          ...categories.map((value) => ({ value, label: `Failed: ${categoryLabel(value)}` })),
        ]}
        onChange={(value) =>
          change({
            status: statuses.find((known) => known === value),
            category: categories.find((known) => known === value),
          })
        }
      />
      <Choice
        label="Deployment"
        any="Any deployment"
        value={search.deployment}
        options={(deployments ?? []).map(({ name }) => ({ value: name, label: name }))}
        onChange={(deployment) => change({ deployment })}
      />
      <Choice
        label="API key"
        any="Any key"
        value={search.key}
        options={(keys ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        onChange={(key) => change({ key })}
      />
      <TextFilter label="Model" value={search.model} onApply={(model) => change({ model })} />
      <TextFilter label="Request id" value={search.request} onApply={(request) => change({ request })} />
      <TextFilter label="Run id" value={search.run} onApply={(run) => change({ run })} />
      {isFiltered && (
        <Button size="small" variant="quiet" onClick={() => change(noFilters)}>
          Clear
        </Button>
      )}
    </search>
  );
}
