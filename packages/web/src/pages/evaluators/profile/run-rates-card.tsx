import type { EvaluationSummaryGroup } from "@presage/sdk";
import { sortRates } from "../../../data/figures/rate-group.ts";
import { RunLink } from "../../../parts/runs.tsx";
import { Card } from "../../../ui/card.tsx";
import { SkeletonRows } from "../../../ui/skeleton.tsx";
import { Cell, RowHeader, Table } from "../../../ui/table.tsx";
import { PassRate } from "../../../ui/verdict/pass-rate.tsx";

/** Each row loads its run's name. */
const maxListed = 50;

/** The pass rate in each run that used a profile. Its height is the same while it loads; `figures` is then undefined. */
export function RunRatesCard({ figures }: { figures: readonly EvaluationSummaryGroup[] | undefined }) {
  const shown = sortRates(figures ?? []).slice(0, maxListed);
  return (
    <Card
      title="Pass rate by run"
      hint={`With people’s corrections and 95 % intervals; the ${maxListed} with the most verdicts.`}
      className="flex h-60 flex-col"
    >
      <div className="min-h-0 flex-1 overflow-y-auto">
        {figures === undefined && <SkeletonRows count={3} className="h-9" />}
        {figures?.length === 0 && (
          <p className="px-4 py-3 text-sm text-ink-2">No run has used this profile.</p>
        )}
        <Table label="Pass rate by run">
          <tbody>
            {shown.map((of) => {
              const { evaluation_run_id: id, evaluator_id, evaluator_profile_revision: revision } = of.key;
              return (
                <tr key={`${id} ${evaluator_id} ${revision}`} className="border-b border-line last:border-0">
                  <RowHeader>{id && <RunLink id={id} />}</RowHeader>
                  <Cell className="text-ink-3">revision {revision}</Cell>
                  <Cell>
                    <PassRate figures={of} />
                  </Cell>
                </tr>
              );
            })}
          </tbody>
        </Table>
      </div>
    </Card>
  );
}
