import type { EvaluationSummaryGroup } from "@presage/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronDown } from "lucide-react";
import { resultRatesQuery } from "../../data/evaluation/evaluation-results.ts";
import { nameRate, profileOf, rateId, searchOfRate } from "../../data/figures/rate-group.ts";
import { usePresage } from "../../data/use-presage.ts";
import { describeInterval, describeVerdicts, explainInterval } from "../../format/describe-rate.ts";
import { formatCount, formatScore, formatShare } from "../../format/format-number.ts";
import { changeSearch, type Filtering } from "../../parts/results-search.ts";
import { Button } from "../../ui/button.tsx";
import { Explained } from "../../ui/overlay/explained.tsx";
import { Popover } from "../../ui/overlay/popover.tsx";
import { PassRate } from "../../ui/verdict/pass-rate.tsx";
import { RunName } from "../runs/run-link.tsx";
import { toResultFilter } from "./explorer-filter.ts";
import { Figure } from "./figure.tsx";

const maxListed = 50;

/** The rate of the evaluator and profile whose results match, or a list of them: rates of several, or of several runs, are never mixed. */
export function Rates({ filtering: { search } }: { filtering: Filtering }) {
  const presage = usePresage();
  const { data: rates } = useQuery({
    ...resultRatesQuery(presage, toResultFilter(search)),
    placeholderData: keepPreviousData,
  });
  const [only, ...others] = rates ?? [];
  if (only === undefined) return null;
  const hasRates = search.verdict === undefined;
  if (others.length === 0) return <OnlyRate figures={only} hasRate={hasRates} />;
  const name = hasRates ? "Pass rates" : "Mean scores";
  return (
    <Popover
      label={name}
      isReadOnly
      trigger={
        <Button size="small" variant="quiet" className="-mx-2">
          {name} by evaluator, profile and run: {formatCount(others.length + 1)}
          <ChevronDown className="size-4" aria-hidden />
        </Button>
      }
    >
      <ul className="flex flex-col gap-3 text-sm">
        {[only, ...others].slice(0, maxListed).map((figures) => (
          <RateItem
            key={`${rateId(figures.key)} ${figures.key.evaluation_run_id}`}
            figures={figures}
            hasRate={hasRates}
          />
        ))}
        {others.length >= maxListed && <li className="text-ink-3">Filter by a run to see others.</li>}
      </ul>
    </Popover>
  );
}

function OnlyRate({ figures, hasRate }: { figures: EvaluationSummaryGroup; hasRate: boolean }) {
  const { pass_rate, pass_rate_interval: interval, mean_score } = figures;
  return (
    <>
      {hasRate && pass_rate !== null && (
        <Explained text={`${nameRate(figures.key)}. ${explainInterval(figures)}`}>
          <Figure name="pass rate">
            {formatShare(pass_rate)}
            <span className="font-normal text-ink-3">
              {interval !== null && ` ${describeInterval(interval)}`}
              {`, ${describeVerdicts(figures)}`}
            </span>
          </Figure>
        </Explained>
      )}
      {mean_score !== null && <Figure name="mean score">{formatScore(mean_score)}</Figure>}
    </>
  );
}

function RateItem({ figures, hasRate }: { figures: EvaluationSummaryGroup; hasRate: boolean }) {
  const { key, mean_score } = figures;
  const profile = profileOf(key);
  const run = key.evaluation_run_id;
  return (
    <li className="flex flex-col gap-1">
      <Link
        from="/evaluations"
        search={(current) => changeSearch(current, searchOfRate(key))}
        resetScroll={false}
        className="min-w-0 font-medium wrap-anywhere text-accent-ink underline-offset-2 hover:underline"
      >
        {key.evaluator_id}
        <span className="block text-xs font-normal text-ink-3">
          {profile}
          {profile !== undefined && " · "}
          {run ? <RunName id={run} /> : "direct evaluations"}
        </span>
      </Link>
      <span className="flex flex-wrap items-start justify-between gap-x-4 gap-y-1">
        {hasRate && <PassRate figures={figures} />}
        {mean_score !== null && <Figure name="mean score">{formatScore(mean_score)}</Figure>}
      </span>
    </li>
  );
}
