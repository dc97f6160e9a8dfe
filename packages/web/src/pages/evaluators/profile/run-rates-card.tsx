import { useQuery } from "@tanstack/react-query";
import { profileFiguresQuery } from "../../../data/evaluation/evaluator-profiles.ts";
import { sortRates } from "../../../data/figures/rate-group.ts";
import { usePresage } from "../../../data/use-presage.ts";
import { Card } from "../../../ui/card.tsx";
import { Cell, RowHeader, Table } from "../../../ui/table.tsx";
import { PassRate } from "../../../ui/verdict/pass-rate.tsx";
import { RunLink } from "../../runs/run-link.tsx";

/** The pass rate in each run that used a profile, apart from direct evaluations and from each other. */
export function RunRatesCard({ publicId }: { publicId: string }) {
  const { data = [] } = useQuery(profileFiguresQuery(usePresage(), publicId, true));
  if (data.length === 0) return null;
  return (
    <Card
      title="Pass rate by run"
      hint="Those with the most verdicts first. Corrections count."
      className="flex max-h-96 flex-col"
    >
      <div className="min-h-0 overflow-y-auto">
        <Table label="Pass rate by run">
          <tbody>
            {sortRates(data).map((figures) => {
              const { evaluation_run_id: id, evaluator_id, evaluator_profile_revision } = figures.key;
              return (
                <tr
                  key={`${id} ${evaluator_id} ${evaluator_profile_revision}`}
                  className="border-b border-line last:border-0"
                >
                  <RowHeader>{id && <RunLink id={id} />}</RowHeader>
                  <Cell className="text-ink-3">revision {evaluator_profile_revision}</Cell>
                  <Cell>
                    <PassRate figures={figures} />
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
