/** The search parameters of a table in the address; a page's `validateSearch` adds them by `readTableSearch`. */
export interface TableSearch {
  /** `name`, or `-name` from the greatest. */
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
