import { type Period, periodBounds, periodLabels, periods } from "../../../data/figures/period.ts";
import { exactTime } from "../../../format/format-time.ts";
import type { Filtering } from "../../../parts/results-search.ts";
import { useNow } from "../../../ui/use-now.ts";
import type { FilterSelectProps } from "./filter-select.tsx";

const custom = "custom";

/** How far back to look. The address has the time itself, so that a link shows everyone the same. */
export function usePeriodFilter({
  search: { since, until },
  change,
}: Filtering): Pick<FilterSelectProps, "anyLabel" | "value" | "options" | "onSelect"> {
  const nowMs = useNow();
  const startOf = (period: Period) => periodBounds(period, nowMs).since;
  const chosen = periods.find(
    (period) => since !== undefined && Date.parse(startOf(period)) === Date.parse(since),
  );
  const isCustom = until !== undefined || (since !== undefined && chosen === undefined);
  const options = periods.map((period) => ({
    value: period as string,
    label: `The last ${periodLabels[period]}`,
  }));
  return {
    anyLabel: "Any time",
    value: isCustom ? custom : chosen,
    options: isCustom ? [...options, { value: custom, label: nameRange(since, until) }] : options,
    onSelect(value) {
      if (value === custom) return;
      const period = periods.find((known) => known === value);
      change({ since: period && startOf(period), until: undefined });
    },
  };
}

function nameRange(since: string | undefined, until: string | undefined): string {
  const from = since === undefined ? "" : `since ${exactTime(since)}`;
  const to = until === undefined ? "" : `until ${exactTime(until)}`;
  const words = `${from} ${to}`.trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
