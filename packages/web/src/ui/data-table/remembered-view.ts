import { readTableSearch, type TableSearch } from "./table-search.ts";

const prefix = "presage-table-";

/** The columns and the order chosen for a table in this browser. */
export function readRememberedView(name: string): TableSearch {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(prefix + name) ?? "{}");
    return stored !== null && typeof stored === "object" ? readTableSearch({ ...stored }) : {};
  } catch {
    // Storage that is denied or unreadable is like an empty one.
    return {};
  }
}

export function rememberView(name: string, view: TableSearch): void {
  try {
    if (Object.keys(view).length === 0) localStorage.removeItem(prefix + name);
    else localStorage.setItem(prefix + name, JSON.stringify(view));
  } catch {
    // Denied or full: the address still has it.
  }
}
