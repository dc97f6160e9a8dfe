import type { Run, RunSample } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { usePresage } from "../../../data/use-presage.ts";
import { Cell, HeaderCell, RowHeader, Table } from "../../../ui/table.tsx";
import { VerdictBadge } from "../../../ui/verdict/verdict-badge.tsx";

const shownCount = 50;

/** The first samples of a run with their verdicts. */
export function SamplesTab({ run }: { run: Run }) {
  const presage = usePresage();
  const { data: samples = [] } = useQuery({
    queryKey: ["runs", "first samples", run.id],
    async queryFn({ signal }) {
      const samples: RunSample[] = [];
      for await (const sample of presage.runs.iterateSamples(run.id, {}, { signal })) {
        samples.push(sample);
        if (samples.length === shownCount) break;
      }
      return samples;
    },
  });
  return (
    <Table label="Samples">
      <thead>
        <tr>
          <HeaderCell>Sample</HeaderCell>
          {run.evaluators.map(({ evaluator, profile_name }) => (
            <HeaderCell key={`${evaluator} ${profile_name}`}>{evaluator}</HeaderCell>
          ))}
        </tr>
      </thead>
      <tbody>
        {samples.map(({ dataset_sample_id, repeat, verdicts }) => (
          <tr key={`${dataset_sample_id} ${repeat}`} className="border-t border-line">
            <RowHeader>{dataset_sample_id}</RowHeader>
            {verdicts.map((verdict) => (
              <Cell key={`${verdict.evaluator} ${verdict.profile_name}`}>
                <VerdictBadge status={verdict.status} pass={verdict.pass} />
              </Cell>
            ))}
          </tr>
        ))}
      </tbody>
    </Table>
  );
}
