import type { PeriodSummary } from "../../data/summaries.ts";
import { Card } from "../../ui/card.tsx";
import { HeaderCell, Table } from "../../ui/table.tsx";
import { EvaluatorRow } from "./evaluator-row.tsx";

const mostRows = 8;

/** The evaluators that were used most, and what came of them. */
export function EvaluatorsCard({ since, byEvaluator, lackedInput }: PeriodSummary) {
  const groups = byEvaluator.toSorted((a, b) => b.count - a.count).slice(0, mostRows);
  const leftOut = byEvaluator.length - groups.length;
  return (
    <Card
      title="Evaluators"
      {...(leftOut > 0 && { hint: `The ${mostRows} that were used most; ${leftOut} more were used.` })}
    >
      <Table label="Evaluators" className="whitespace-nowrap">
        <thead>
          <tr className="border-b border-line">
            <HeaderCell>Evaluator</HeaderCell>
            {["Evaluations", "Passed", "Did not pass", "No verdict", "Unusable input", "Pass rate"].map(
              (name) => (
                <HeaderCell key={name} isNumber>
                  {name}
                </HeaderCell>
              ),
            )}
            <HeaderCell className="w-1/3">95 % interval</HeaderCell>
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <EvaluatorRow
              key={group.key.evaluator_id}
              group={group}
              lackedInput={lackedInput.get(group.key.evaluator_id ?? "") ?? 0}
              since={since}
            />
          ))}
        </tbody>
      </Table>
    </Card>
  );
}
