import type { RunReport } from "@presage/sdk";
import { countedIn, formatCount, formatShare } from "../format/numbers.ts";
import { Card } from "../ui/card.tsx";
import { CurveChart } from "../ui/charts/curve-plot.tsx";
import { IntervalTable } from "../ui/charts/interval-table.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../ui/table.tsx";

type Ends = NonNullable<RunReport["ends"]>;
type Done = NonNullable<Ends["done"]>;
type Figure = Done["agreement"];

const clustered = "The interval is at 95\u00a0%, clustered by trajectory.";

/** Whether predictions end where the real environment ends, with the same reward. Few runs have this, so it is a separate part. */
export function EndsCard({ ends }: { ends: NonNullable<RunReport["ends"]> }) {
  const { sentence, done, reward, note } = ends;
  return (
    <Card title="Does it end where the real one ends?">
      <div className="flex flex-col gap-1 px-4 py-3 text-sm">
        {sentence !== null && <p className="font-medium">{sentence}</p>}
        {note !== null && <p className="text-ink-2">{note}</p>}
      </div>
      {done !== null && <DoneFigures done={done} />}
      {reward !== null && (
        <StepCurve
          name="Error of rewards"
          steps={reward.step.map(({ key, absolute_error }) => ({ key, figure: absolute_error }))}
          format={(value) => value.toFixed(2)}
        />
      )}
    </Card>
  );
}

function DoneFigures({ done }: { done: Done }) {
  const { counts, agreement, false_ends, missed_ends, step } = done;
  const rows = [
    { name: "Predicted to end", ends: counts.both, goesOn: counts.only_predicted },
    { name: "Predicted to go on", ends: counts.only_recorded, goesOn: counts.neither },
  ];
  return (
    <>
      <Table label="Predictions by both ends">
        <thead className="border-y border-line">
          <tr>
            <HeaderCell>Predictions</HeaderCell>
            <HeaderCell isNumber>Really ends</HeaderCell>
            <HeaderCell isNumber>Really goes on</HeaderCell>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, ends, goesOn }) => (
            <tr key={name} className="border-b border-line">
              <RowHeader>{name}</RowHeader>
              <Cell isNumber>{formatCount(ends)}</Cell>
              <Cell isNumber>{formatCount(goesOn)}</Cell>
            </tr>
          ))}
        </tbody>
      </Table>
      <IntervalTable
        mark="bar"
        label="Ends"
        rowLabel="Figure"
        valueLabel="Share"
        explanation={clustered}
        counted="Predictions. How many trajectories they are in"
        rows={[
          toRow("Ends alike", agreement),
          toRow("False ends", false_ends),
          toRow("Missed ends", missed_ends),
        ]}
        domain={[0, 1]}
        format={formatShare}
        formatTick={(value) => `${Math.round(value * 100)}`}
      />
      <StepCurve
        name="Ends alike"
        steps={step.map(({ key, agreement: figure }) => ({ key, figure }))}
        format={formatShare}
      />
    </>
  );
}

function toRow(label: string, { value, interval, count, trajectories, note }: Figure) {
  return {
    key: label,
    label,
    value,
    count,
    lower: interval?.lower,
    upper: interval?.upper,
    basis: note ?? countedIn(count, trajectories, "prediction"),
  };
}

interface StepCurveProps {
  name: string;
  steps: readonly { key: number; figure: Figure }[];
  format(value: number): string;
}

function StepCurve({ name, steps, format }: StepCurveProps) {
  if (steps.length < 2) return null;
  const points = steps.map(({ key, figure }) => ({ x: key, ...toRow(name, figure) }));
  const series = [{ key: "run", label: "This run", points }];
  return (
    <CurveChart
      shape="line"
      xLabel="Step"
      series={series}
      format={format}
      label={`${name} by step`}
      yLabel={name}
      formatTick={format}
      note={clustered}
    />
  );
}
