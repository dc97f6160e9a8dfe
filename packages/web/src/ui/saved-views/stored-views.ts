import { parseSearch, stringifySearch } from "../../search-params.ts";

/** A page's search parameters under a name. */
export interface SavedView {
  name: string;
  /** As in the address: `?app=shop`. */
  search: string;
}

const prefix = "presage-views-";
const maxViews = 100;

/** The views that were saved in this browser, by name. */
export function readSavedViews(page: string): SavedView[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(prefix + page) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isView).slice(0, maxViews) : [];
  } catch {
    // Storage that is denied or unreadable is like an empty one.
    return [];
  }
}

/** Returns whether the browser keeps them. */
export function storeViews(page: string, views: readonly SavedView[]): boolean {
  try {
    localStorage.setItem(prefix + page, JSON.stringify(views));
    return true;
  } catch {
    return false;
  }
}

/** A view of the same name is replaced. */
export function withView(views: readonly SavedView[], view: SavedView): SavedView[] {
  return [...withoutView(views, view.name), view]
    .sort((one, other) => one.name.localeCompare(other.name))
    .slice(0, maxViews);
}

export function withoutView(views: readonly SavedView[], name: string): SavedView[] {
  return views.filter((view) => view.name !== name);
}

/** Whether two views show the same, in whatever order their parameters are. */
export function isSameSearch(one: string, other: string): boolean {
  return sorted(one) === sorted(other);
}

function sorted(search: string): string {
  return stringifySearch(Object.fromEntries(Object.entries(parseSearch(search)).sort()));
}

function isView(value: unknown): value is SavedView {
  if (value === null || typeof value !== "object") return false;
  const { name, search } = value as Partial<Record<keyof SavedView, unknown>>;
  return typeof name === "string" && typeof search === "string";
}
