import { useNavigate, useSearch } from "@tanstack/react-router";
import { type MatrixSearch, readMatrixSearch } from "./matrix-search.ts";

export type MatrixChanges = { [Name in keyof MatrixSearch]?: MatrixSearch[Name] | undefined };

interface MatrixView {
  search: MatrixSearch;
  /** Writes changes to the URL; undefined removes a value. */
  change(changes: MatrixChanges, options?: { replace?: boolean }): void;
}

/** The matrix's part of the address of the page that it stands on, whose `validateSearch` has `readMatrixSearch`. */
export function useMatrixSearch(): MatrixView {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  return {
    search: readMatrixSearch({ ...search }),
    change(changes, { replace = false } = {}) {
      void navigate({
        to: ".",
        search: (current: Record<string, unknown>) => withChanges(current, changes),
        replace,
        resetScroll: false,
      });
    },
  };
}

/** Undefined removes a value. */
export function withChanges(
  current: Record<string, unknown>,
  changes: MatrixChanges,
): Record<string, unknown> {
  const entries = Object.entries({ ...current, ...changes });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}
