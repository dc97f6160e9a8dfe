import { IntervalTable, type IntervalTableProps } from "./plot/interval-table.tsx";

/** Values as bars from 0 with their intervals on one axis. */
export function IntervalBars(props: IntervalTableProps) {
  return <IntervalTable mark="bar" {...props} />;
}
