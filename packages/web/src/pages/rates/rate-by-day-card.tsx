import type { EvaluationSummaryGroup } from "@presage/sdk";
import type { Period } from "../../data/figures/period.ts";
import { profileOf, rateId, sortRates, verdictsOf } from "../../data/figures/rate-group.ts";
import { shortEvaluatorNames } from "../../format/short-evaluator-names.ts";
import { Card } from "../../ui/card.tsx";
import { ChartSkeleton } from "../../ui/charts/chart-skeleton.tsx";
import { Select } from "../../ui/form/select.tsx";
import { NoVerdicts } from "./no-verdicts.tsx";
import { RateOfDays } from "./rate-of-days.tsx";

interface RateByDayCardProps {
  period: Period;
  /** Undefined while loading. */
  rates: readonly EvaluationSummaryGroup[] | undefined;
  title?: string;
  /** The id of the chosen rate; undefined or unknown: that with the most verdicts. */
  chosen: string | undefined;
  onChoose(id: string): void;
}

/** One evaluator and profile at a time: a rate of several would change with how often each is used. */
export function RateByDayCard({
  period,
  rates: all,
  title = "Pass rate by day",
  chosen,
  onChoose,
}: RateByDayCardProps) {
  const rates = sortRates(all ?? []).filter((figures) => verdictsOf(figures) > 0);
  const nameOf = shortEvaluatorNames(rates.map(({ key }) => key.evaluator_id ?? ""));
  const rate = rates.find(({ key }) => rateId(key) === chosen) ?? rates[0];
  return (
    <Card
      title={title}
      hint="Of direct evaluations, by UTC day, with 95 % confidence intervals."
      className="flex h-100 flex-col md:h-84"
      actions={
        rate !== undefined && (
          <Select
            aria-label="Evaluator and profile"
            className="max-w-full"
            value={rateId(rate.key)}
            options={rates.map(({ key }) => ({
              value: rateId(key),
              label: [nameOf(key.evaluator_id ?? ""), profileOf(key)].filter(Boolean).join(", "),
            }))}
            onChange={onChoose}
          />
        )
      }
    >
      {all === undefined ? (
        <ChartSkeleton />
      ) : rate === undefined ? (
        <NoVerdicts count={all.length} />
      ) : (
        <RateOfDays period={period} rate={rate} />
      )}
    </Card>
  );
}
