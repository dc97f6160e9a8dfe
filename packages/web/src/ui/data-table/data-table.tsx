import type { ReactNode } from "react";
import { TableFrame, type TableFrameProps } from "./table-frame.tsx";
import { useVirtualRows } from "./use-virtual-rows.ts";

interface DataTableProps<Row> extends TableFrameProps<Row> {
  /** In place of the table when it has no rows. */
  empty: ReactNode;
}

/** A table that, with many rows, has only those in sight in the page. */
export function DataTable<Row>({ empty, ...props }: DataTableProps<Row>) {
  return props.table.rows?.length === 0 ? empty : <FilledTable {...props} />;
}

function FilledTable<Row>(props: TableFrameProps<Row>) {
  return <TableFrame {...props} rendered={useVirtualRows(props.table, props.onNearEnd)} />;
}
