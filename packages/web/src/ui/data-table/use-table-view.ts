import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useEffectEvent, useState } from "react";
import { useNarrow } from "../use-narrow.ts";
import { type DataColumn, defaultColumnIds } from "./data-column.ts";
import { readRememberedView, rememberView } from "./remembered-view.ts";
import { parseSort, readTableSearch, type Sort, type TableSearch, writeSort } from "./table-search.ts";

/** Which columns a table shows and in which order its rows are. */
export interface TableView {
  sort: Sort | undefined;
  columnIds: readonly string[];
  /** Whether the columns were chosen. */
  hasOwnColumns: boolean;
  /** Undefined: as at first. */
  changeSort(sort: Sort | undefined): void;
  changeColumns(ids: readonly string[] | undefined): void;
}

interface TableViewOptions {
  /** For the one table of a page whose `validateSearch` has `readTableSearch`: its view stands in the address. */
  isInAddress?: boolean;
  defaultSort?: Sort;
}

/** The view of a table: as the address says, else as it was left in this browser, else as at first. */
export function useTableView<Row>(
  name: string,
  columns: readonly DataColumn<Row>[],
  { isInAddress = false, defaultSort }: TableViewOptions = {},
): TableView {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  const isNarrow = useNarrow();
  const [remembered, setRemembered] = useState(() => readRememberedView(name));
  const inAddress = isInAddress ? readTableSearch({ ...search }) : {};
  const shown = { ...remembered, ...inAddress };

  function writeAddress(view: TableSearch): void {
    void navigate({
      to: ".",
      search: ({ sort, columns, ...rest }: TableSearch) => ({ ...rest, ...view }),
      replace: true,
      resetScroll: false,
    });
  }

  // A link that is copied now must show a colleague the same.
  const completeAddress = useEffectEvent(() => {
    const isComplete = shown.sort === inAddress.sort && shown.columns === inAddress.columns;
    if (isInAddress && !isComplete) writeAddress(shown);
  });
  useEffect(() => completeAddress(), []);

  function change(changes: { [Name in keyof TableSearch]: string | undefined }): void {
    const view = readTableSearch({ ...shown, ...changes });
    rememberView(name, view);
    setRemembered(view);
    if (isInAddress) writeAddress(view);
  }

  const known = new Set(columns.map(({ id }) => id));
  const chosen = shown.columns?.split(",").filter((id) => known.has(id)) ?? [];
  const hasOwnColumns = chosen.length > 0;
  const sort = parseSort(shown.sort);
  const fixed = columns.filter(({ isFixed = false }) => isFixed).map(({ id }) => id);
  return {
    sort: sort !== undefined && known.has(sort.id) ? sort : defaultSort,
    columnIds: hasOwnColumns ? [...fixed, ...chosen] : defaultColumnIds(columns, isNarrow),
    hasOwnColumns,
    changeSort: (next) => change({ sort: next && writeSort(next) }),
    changeColumns: (ids) => change({ columns: ids?.join(",") }),
  };
}
