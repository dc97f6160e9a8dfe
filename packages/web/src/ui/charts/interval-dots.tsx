import { IntervalTable, type IntervalTableProps } from "./plot/interval-table.tsx";

/** Values as dots with their intervals on one axis, 0 marked: for differences, or rates. */
export function IntervalDots(props: IntervalTableProps) {
  return <IntervalTable mark="dot" {...props} />;
}
