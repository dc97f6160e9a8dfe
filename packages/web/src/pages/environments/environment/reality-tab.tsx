import type { RealityFigures } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { usePresage } from "../../../data/client.ts";
import { realityQuery } from "../../../data/environments.ts";
import { formatCount, formatShare } from "../../../format/numbers.ts";
import { IntervalTable } from "../../../ui/charts/interval-table.tsx";
import { CodeBlock } from "../../../ui/code-block.tsx";
import { ErrorNotice } from "../../../ui/notice.tsx";
import { SkeletonRows } from "../../../ui/skeleton.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../../ui/table.tsx";

/** How often success in this environment is success in the real one. */
export function RealityTab({ name }: { name: string }) {
  const { data, error, refetch } = useQuery(realityQuery(usePresage(), name));
  if (data === undefined)
    return (
      <div className="p-4">
        {error === null ? (
          <SkeletonRows count={3} className="h-8" />
        ) : (
          <ErrorNotice error={error} onRetry={refetch} />
        )}
      </div>
    );
  if (data.agreement.count === 0) return <HowTo name={name} />;
  return (
    <div className="flex flex-col gap-4 py-4">
      <p className="px-4 text-sm font-medium">{data.sentence}</p>
      <Outcomes counts={data.counts} />
      <IntervalTable
        mark="bar"
        label="Simulated against real"
        rowLabel="Figure"
        valueLabel="Share"
        explanation="The interval is at 95 %, clustered by task: episodes of one task depend on each other."
        rows={rowsOf(data)}
        domain={[0, 1]}
        format={formatShare}
        formatTick={(value) => `${Math.round(value * 100)}`}
      />
    </div>
  );
}

function HowTo({ name }: { name: string }) {
  return (
    <div className="flex flex-col gap-2 p-4 text-sm text-ink-2">
      <p>
        No episode has been checked. Play the same tasks here and in the real environment, and store how each
        ended, a line of JSON with <code>task_id</code>, <code>simulated</code> and <code>real</code>:
      </p>
      <CodeBlock
        code={`presage reality ${name} --pairs outcomes.jsonl --name first`}
        label="the command"
        language="shell"
      />
    </div>
  );
}

function Outcomes({ counts }: Pick<RealityFigures, "counts">) {
  const { both, only_simulated, only_real, neither } = counts;
  const rows = [
    { name: "Simulated success", real: both, not: only_simulated, isFalse: true },
    { name: "Simulated failure", real: only_real, not: neither, isFalse: false },
  ];
  return (
    <Table label="Episodes by their two outcomes">
      <thead className="border-b border-line">
        <tr>
          <HeaderCell>Episodes</HeaderCell>
          <HeaderCell isNumber>Real success</HeaderCell>
          <HeaderCell isNumber>Real failure</HeaderCell>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, real, not, isFalse }) => (
          <tr key={name} className="border-b border-line last:border-0">
            <RowHeader>{name}</RowHeader>
            <Cell isNumber>{formatCount(real)}</Cell>
            <Cell isNumber className={isFalse && not > 0 ? "font-medium text-fail" : undefined}>
              {formatCount(not)}
            </Cell>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function rowsOf({ false_success_rate, missed_success_rate, agreement, policies }: RealityFigures) {
  const shown: [string, RealityFigures["agreement"]][] = [
    ["False success", false_success_rate],
    ["Missed success", missed_success_rate],
    ["Agreement", agreement],
    ...policies.map((one): [string, RealityFigures["agreement"]] => [
      `False success, ${one.policy}`,
      one.false_success_rate,
    ]),
  ];
  return shown.map(([label, { value, interval, count, tasks, note }]) => ({
    ...{ key: label, label, shown: label, value, count },
    lower: interval?.lower,
    upper: interval?.upper,
    basis: note ?? `${formatCount(count)} episodes of ${formatCount(tasks)} tasks`,
  }));
}
