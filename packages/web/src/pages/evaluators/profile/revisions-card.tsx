import type { EvaluationSummaryGroup, EvaluatorProfile, RevisionAgreement } from "@presage/sdk";
import { type ReactNode, useState } from "react";
import { addUp, sortRates, verdictsOf } from "../../../data/summaries.ts";
import { counted, formatCount } from "../../../format/numbers.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { PassRate, RateCell } from "../../../ui/pass-rate.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";

interface RevisionsCardProps {
  /** Newest first. */
  revisions: readonly EvaluatorProfile[];
  /** Figures of direct evaluations. Undefined while loading; so are `runs` and `agreement`. */
  figures: readonly EvaluationSummaryGroup[] | undefined;
  runs: readonly EvaluationSummaryGroup[] | undefined;
  agreement: readonly RevisionAgreement[] | undefined;
  /** Shown above the table. */
  children: ReactNode;
}

/** More rows would push the rest of the page out of sight. */
const maxAtFirst = 8;

/** The pass rate and agreement of each revision. */
export function RevisionsCard({ revisions, figures, runs, agreement, children }: RevisionsCardProps) {
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? revisions : revisions.slice(0, maxAtFirst);
  const figuresOf = figures && figuresByRevision(figures);
  const runsOf = runs && figuresByRevision(runs);
  const hasRates = figures?.some((of) => verdictsOf(of) > 0) ?? true;
  return (
    <Card
      title={revisions.length > 1 ? "Revisions" : "How far it can be trusted"}
      hint={`${hasRates ? "Pass rates: of direct evaluations, corrected by people; those of runs are below. " : ""}Intervals at 95\u00a0%, by trajectory or sample.`}
    >
      <div className="border-b border-line px-4 py-2.5">{children}</div>
      <Table label="Revisions" isStacked className="min-w-160">
        <thead className="border-b border-line">
          <tr>
            <HeaderCell>Revision</HeaderCell>
            <HeaderCell>Created</HeaderCell>
            <HeaderCell isNumber>Evaluations</HeaderCell>
            {hasRates && <HeaderCell className="w-72">Pass rate</HeaderCell>}
            <HeaderCell className="w-72">
              <span title="The share that people confirmed of the verdicts that they confirmed or corrected. These are not labels.">
                Confirmed by people
              </span>
            </HeaderCell>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ public_id, revision, is_managed, created_at }) => {
            const figures = figuresOf?.(public_id, revision) ?? [];
            const ofRuns = runsOf?.(public_id, revision) ?? [];
            const totals = addUp([...figures, ...ofRuns]);
            const { count: inRuns } = addUp(ofRuns);
            const reviews = agreement?.find((of) => of.revision === revision);
            return (
              <tr key={revision} className="h-11 border-b border-line last:border-b-0">
                <RowHeader className="font-medium tabular-nums">
                  <span className="md:hidden">Revision </span>
                  {revision}
                </RowHeader>
                <Cell className="text-ink-2">{is_managed ? "Built-in" : <Time at={created_at} />}</Cell>
                <Cell isNumber>
                  {figuresOf && runsOf && formatCount(totals.count)}
                  {inRuns > 0 && inRuns < totals.count && (
                    <span className="block text-xs whitespace-nowrap text-ink-3">
                      {formatCount(inRuns)} in runs
                    </span>
                  )}
                  {totals.failed > 0 && (
                    <span className="block text-xs whitespace-nowrap text-warn">
                      {formatCount(totals.failed)} without a verdict
                    </span>
                  )}
                </Cell>
                {hasRates && (
                  <Cell>
                    {figuresOf === undefined ? (
                      <Skeleton className="h-4 w-40" />
                    ) : (
                      <RevisionRates figures={figures} />
                    )}
                  </Cell>
                )}
                <Cell>
                  {agreement === undefined ? (
                    <Skeleton className="h-4 w-40" />
                  ) : reviews === undefined || reviews.corrected === 0 ? (
                    <span className="text-ink-3">none checked</span>
                  ) : (
                    <RateCell
                      rate={reviews.agreement}
                      interval={reviews.agreement_interval}
                      note={describeReviews(reviews)}
                    />
                  )}
                </Cell>
              </tr>
            );
          })}
        </tbody>
      </Table>
      {revisions.length > maxAtFirst && (
        <div className="border-t border-line px-2 py-1.5">
          <Button variant="quiet" size="small" onClick={() => setShowsAll(!showsAll)}>
            {showsAll ? `Show the newest ${maxAtFirst}` : `Show all ${revisions.length} revisions`}
          </Button>
        </div>
      )}
    </Card>
  );
}

/** “5 checked in 3 trajectories or samples: 1 should fail, 0 should pass” */
function describeReviews({ corrected, clusters, should_fail, should_pass }: RevisionAgreement): string {
  const groups =
    clusters === null || clusters === corrected
      ? ""
      : ` in ${counted(clusters, "trajectory or sample", "trajectories or samples")}`;
  return `${formatCount(corrected)} checked${groups}: ${formatCount(should_fail)} should fail, ${formatCount(should_pass)} should pass`;
}

type FiguresOfRevision = (publicId: string, revision: number) => EvaluationSummaryGroup[];

/**
 * Returns the figures of a revision, usually of one evaluator. Versions of an evaluator are kept apart, as are revisions: their
 * scores are never mixed.
 */
function figuresByRevision(groups: readonly EvaluationSummaryGroup[]): FiguresOfRevision {
  const byRevision = Map.groupBy(
    groups,
    ({ key }) => `${key.evaluator_profile_public_id} ${key.evaluator_profile_revision}`,
  );
  return (publicId, revision) => sortRates(byRevision.get(`${publicId} ${revision}`) ?? []);
}

/** The pass rate of each evaluator with one revision of a profile; with the evaluator's name if there are several. */
function RevisionRates({ figures }: { figures: readonly EvaluationSummaryGroup[] }) {
  const judged = figures.filter((one) => verdictsOf(one) > 0);
  if (judged.length === 0) return <span className="text-ink-3">–</span>;
  return (
    <span className="flex flex-col gap-1">
      {judged.map((one) => (
        <span key={one.key.evaluator_id} className="flex flex-col">
          {judged.length > 1 && <span className="text-xs text-ink-3">{one.key.evaluator_id}</span>}
          <PassRate figures={one} />
        </span>
      ))}
    </span>
  );
}
