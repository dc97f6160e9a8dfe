import type { EvaluationSummaryGroup } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { profileOf, rateId, searchOfRate, sortRates } from "../../data/figures/rate-group.ts";
import type { PeriodSummary } from "../../data/summaries.ts";
import { formatCount } from "../../format/format-number.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../ui/table.tsx";
import { EvaluatorName } from "../../ui/verdict/evaluator-name.tsx";
import { PassRate } from "../../ui/verdict/pass-rate.tsx";
import type { Verdict } from "../evaluations/explorer-search.ts";

/** More rows would push the rest of the page out of sight. */
const maxAtFirst = 10;

/** The results of each evaluator and profile, those with the most verdicts first. */
export function PassRatesCard({ since, rates, lackedInput }: PeriodSummary) {
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? sortRates(rates) : sortRates(rates).slice(0, maxAtFirst);
  return (
    <Card
      title="Pass rates"
      hint="Of each evaluator and profile, with 95 % confidence intervals. Verdicts about the same trajectory or sample tend to agree, so intervals take them as one group, a cluster."
    >
      <Table label="Pass rates" className="whitespace-nowrap">
        <thead>
          <tr className="border-b border-line">
            <HeaderCell>Evaluator and profile</HeaderCell>
            <HeaderCell>Pass rate, 95 % interval</HeaderCell>
            {["Evaluations", "Passed", "Did not pass", "Error", "Unusable input"].map((name) => (
              <HeaderCell key={name} isNumber>
                {name}
              </HeaderCell>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((figures) => (
            <RateRow
              key={rateId(figures.key)}
              figures={figures}
              lackedInput={lackedInput.get(rateId(figures.key)) ?? 0}
              since={since}
            />
          ))}
        </tbody>
      </Table>
      {rates.length > maxAtFirst && (
        <div className="border-t border-line px-2 py-1.5">
          <Button variant="quiet" size="small" onClick={() => setShowsAll(!showsAll)}>
            {showsAll ? `Show the first ${maxAtFirst}` : `Show all ${rates.length}`}
          </Button>
        </div>
      )}
    </Card>
  );
}

interface RateRowProps {
  figures: EvaluationSummaryGroup;
  /** Included in the evaluations without a verdict. */
  lackedInput: number;
  since: string;
}

function RateRow({ figures, lackedInput, since }: RateRowProps) {
  const { key } = figures;
  const profile = profileOf(key);
  const search = { ...searchOfRate(key), since };
  const counts: { count: number; verdict: Verdict; words: string }[] = [
    { count: figures.passed, verdict: "pass", words: "passed" },
    { count: figures.not_passed, verdict: "fail", words: "did not pass" },
    { count: figures.failed - lackedInput, verdict: "error", words: "without a verdict: error" },
    { count: lackedInput, verdict: "unusable-input", words: "without a verdict: unusable input" },
  ];
  // Taller than its text, for touch screens.
  const link = "-my-2 inline-block py-2 underline-offset-2 hover:underline";
  return (
    <tr className="border-b border-line last:border-0 hover:bg-hover">
      <RowHeader className="max-sm:min-w-36 max-sm:whitespace-normal max-sm:wrap-anywhere">
        <Link to="/evaluations" search={search} className={`text-accent-ink ${link}`}>
          <EvaluatorName id={key.evaluator_id ?? ""} />
          {profile !== undefined && <span className="block text-xs text-ink-3">{profile}</span>}
        </Link>
      </RowHeader>
      <Cell>
        <PassRate figures={figures} />
      </Cell>
      <Cell isNumber>{formatCount(figures.count)}</Cell>
      {counts.map(({ count, verdict, words }) => (
        <Cell key={words} isNumber>
          {count === 0 ? (
            <span className="text-ink-3">0</span>
          ) : (
            <Link
              to="/evaluations"
              search={{ ...search, verdict }}
              aria-label={`${formatCount(count)} ${words}, of ${key.evaluator_id}`}
              className={link}
            >
              {formatCount(count)}
            </Link>
          )}
        </Cell>
      ))}
    </tr>
  );
}
