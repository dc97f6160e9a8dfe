// Which columns a table shows and in which order its rows are, in the address and in the browser's memory.

import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useEffectEvent, useState } from "react";
import { inPlace } from "../../search-params.ts";
import { type DataColumn, defaultColumnIds } from "./columns.ts";

/** Which columns a table shows and in which order its rows are. */
export interface TableView {
  sort: Sort | undefined;
  columnIds: readonly string[];
  /** Whether the columns were chosen. */
  hasOwnColumns: boolean;
  /** Undefined: the default order. */
  changeSort(sort: Sort | undefined): void;
  changeColumns(ids: readonly string[] | undefined): void;
}

interface TableViewOptions {
  /** For the one table of a page whose `validateSearch` has `readTableSearch`: its view is in the address. */
  isInAddress?: boolean;
}

/** The view of a table: from the address, else as it was left in this browser, else the default. */
export function useTableView<Row>(
  name: string,
  columns: readonly DataColumn<Row>[],
  { isInAddress = false }: TableViewOptions = {},
): TableView {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  const [remembered, setRemembered] = useState(() => readRememberedView(name));
  const inAddress = isInAddress ? readTableSearch({ ...search }) : {};
  /** The last change until the address has it: the next change may come before that. */
  const [changed, setChanged] = useState<TableSearch>();
  const shown = changed ?? { ...remembered, ...inAddress };

  async function writeAddress(view: TableSearch): Promise<void> {
    await navigate({
      to: ".",
      search: ({ sort, columns, ...rest }: TableSearch) => ({ ...rest, ...view }),
      ...inPlace,
    });
  }

  // A link that is copied now must show a colleague the same view.
  const completeAddress = useEffectEvent(() => {
    const isComplete = shown.sort === inAddress.sort && shown.columns === inAddress.columns;
    if (isInAddress && !isComplete) void writeAddress(shown);
  });
  useEffect(() => completeAddress(), []);

  function change(changes: { [Name in keyof TableSearch]: string | undefined }): void {
    const view = readTableSearch({ ...shown, ...changes });
    rememberView(name, view);
    setRemembered(view);
    if (!isInAddress) return;
    setChanged(view);
    void writeAddress(view).finally(() => setChanged((last) => (last === view ? undefined : last)));
  }

  const known = new Set(columns.map(({ id }) => id));
  const chosen = shown.columns?.split(",").filter((id) => known.has(id)) ?? [];
  const hasOwnColumns = chosen.length > 0;
  const sort = parseSort(shown.sort);
  const fixed = columns.filter(({ isFixed = false }) => isFixed).map(({ id }) => id);
  return {
    sort: sort !== undefined && known.has(sort.id) ? sort : undefined,
    columnIds: hasOwnColumns ? [...fixed, ...chosen] : defaultColumnIds(columns),
    hasOwnColumns,
    changeSort: (next) => change({ sort: next && writeSort(next) }),
    changeColumns: (ids) => change({ columns: ids?.join(",") }),
  };
}

/** The search parameters of a table; a page's `validateSearch` adds them with `readTableSearch`. */
export interface TableSearch {
  /** `name`, or `-name` for descending order. */
  sort?: string;
  /** `name,state`: the shown columns, if they were chosen. */
  columns?: string;
}

export interface Sort {
  id: string;
  isDescending: boolean;
}

const sortPattern = /^-?[\w-]{1,64}$/;
const columnsPattern = /^[\w-]{1,64}(,[\w-]{1,64}){0,63}$/;

/** Reads the address; invalid values are ignored. */
export function readTableSearch(search: Record<string, unknown>): TableSearch {
  const { sort, columns } = search;
  return {
    ...(typeof sort === "string" && sortPattern.test(sort) && { sort }),
    ...(typeof columns === "string" && columnsPattern.test(columns) && { columns }),
  };
}

export function parseSort(text: string | undefined): Sort | undefined {
  if (text === undefined) return undefined;
  const isDescending = text.startsWith("-");
  return { id: isDescending ? text.slice(1) : text, isDescending };
}

export function writeSort({ id, isDescending }: Sort): string {
  return isDescending ? `-${id}` : id;
}

const prefix = "presage-table-";

/** The columns and the order that were chosen for a table in this browser. */
function readRememberedView(name: string): TableSearch {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(prefix + name) ?? "{}");
    return stored !== null && typeof stored === "object" ? readTableSearch({ ...stored }) : {};
  } catch {
    // Storage that is denied or unreadable counts as empty.
    return {};
  }
}

function rememberView(name: string, view: TableSearch): void {
  try {
    if (Object.keys(view).length === 0) localStorage.removeItem(prefix + name);
    else localStorage.setItem(prefix + name, JSON.stringify(view));
  } catch {
    // Denied or full: the address still has the view.
  }
}
