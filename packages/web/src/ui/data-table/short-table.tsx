import type { ReactNode } from "react";
import { allRows, TableFrame, type TableFrameProps } from "./table-frame.tsx";

interface ShortTableProps<Row> extends Omit<TableFrameProps<Row>, "onNearEnd" | "end"> {
  /** In place of the table when it has no rows. */
  empty: ReactNode;
}

/** A table whose rows are all in the page: for the first page, which so does without the code for long ones. */
export function ShortTable<Row>({ empty, ...props }: ShortTableProps<Row>) {
  const { rows, sortedRows } = props.table;
  if (rows?.length === 0) return empty;
  return <TableFrame {...props} rendered={allRows(sortedRows.length)} />;
}
