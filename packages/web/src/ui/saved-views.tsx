import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { Bookmark, Trash2 } from "lucide-react";
import { type SubmitEvent, useState } from "react";
import { parseSearch, stringifySearch } from "../search-params.ts";
import { Button, IconButton } from "./button.tsx";
import { Field } from "./form/fields.tsx";
import { TextInput } from "./form/inputs.tsx";
import { Popover } from "./menu.tsx";

interface SavedViewsProps {
  /** The page's name, in the browser's memory. */
  name: string;
  /** The page's search parameters that make up a view, without what is currently open. */
  search: Record<string, unknown>;
}

/** Names for a page's filters, order and columns, kept in this browser. A link shares a view with others. */
export function SavedViews({ name, search }: SavedViewsProps) {
  const [views, setViews] = useState(() => readSavedViews(name));
  const [isFull, setFull] = useState(false);
  const current = stringifySearch(search);
  const open = views.find((view) => isSameSearch(view.search, current));

  function replace(change: (views: SavedView[]) => SavedView[]): void {
    // Another tab may have changed the views.
    const next = change(isFull ? views : readSavedViews(name));
    setFull(!storeViews(name, next));
    setViews(next);
  }

  return (
    <Popover
      label="Saved views"
      trigger={
        <Button
          icon={<Bookmark aria-hidden />}
          className="max-w-56"
          aria-label={open === undefined ? "Saved views" : `Saved views: ${open.name}`}
        >
          <span className="truncate">{open?.name ?? "Views"}</span>
        </Button>
      }
    >
      <div className="flex flex-col gap-3">
        {views.length === 0 ? (
          <p className="text-sm text-ink-2">
            Save the filters, the order and the columns of this page under a name, to return to them later.
          </p>
        ) : (
          <ul className="-mx-2 flex max-h-72 flex-col overflow-y-auto">
            {views.map((view) => (
              <li key={view.name} className="flex items-center gap-1">
                <Link
                  to="."
                  search={{ ...asAtFirst, ...parseSearch(view.search) }}
                  aria-current={view === open ? "true" : undefined}
                  className={clsx(
                    "min-w-0 flex-1 truncate rounded-md px-2 py-1.5 text-sm -outline-offset-2 hover:bg-hover",
                    view === open && "bg-accent-soft font-medium text-accent-ink",
                  )}
                >
                  {view.name}
                </Link>
                <IconButton
                  label={`Delete the view ${view.name}`}
                  icon={<Trash2 aria-hidden />}
                  onClick={() => replace((known) => withoutView(known, view.name))}
                />
              </li>
            ))}
          </ul>
        )}
        <SaveForm
          onSave={(viewName) => replace((known) => withView(known, { name: viewName, search: current }))}
        />
        {isFull && (
          <p role="alert" className="text-xs text-fail">
            This browser does not let Presage store views. They last until the page is left.
          </p>
        )}
      </div>
    </Popover>
  );
}

const maxNameCharacters = 80;

function SaveForm({ onSave }: { onSave(name: string): void }) {
  const [draft, setDraft] = useState("");
  function save(event: SubmitEvent): void {
    event.preventDefault();
    const name = draft.trim();
    if (name === "") return;
    onSave(name);
    setDraft("");
  }
  return (
    <form onSubmit={save}>
      <Field label="Save this view as">
        {(control) => (
          <div className="flex gap-2">
            <TextInput
              {...control}
              value={draft}
              maxLength={maxNameCharacters}
              onChange={({ target }) => setDraft(target.value)}
            />
            <Button type="submit">Save</Button>
          </div>
        )}
      </Field>
    </form>
  );
}

/** A page's search parameters under a name. */
interface SavedView {
  name: string;
  /** As in the address: `?app=shop`. */
  search: string;
}

const prefix = "presage-views-";
const maxViews = 100;

/** The views that were saved in this browser, by name. */
function readSavedViews(page: string): SavedView[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(prefix + page) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isView).slice(0, maxViews) : [];
  } catch {
    // Storage that is denied or unreadable counts as empty.
    return [];
  }
}

/** Returns whether the browser stored the views. */
function storeViews(page: string, views: readonly SavedView[]): boolean {
  try {
    localStorage.setItem(prefix + page, JSON.stringify(views));
    return true;
  } catch {
    return false;
  }
}

/** Stand for a table's default order and columns. A view that has neither wants the defaults, not the ones used last. */
const asAtFirst: Record<string, unknown> = { sort: "-", columns: "-" };

/** Adds a view; it replaces one with the same name. */
export function withView(views: readonly SavedView[], view: SavedView): SavedView[] {
  return [...withoutView(views, view.name), view]
    .sort((one, other) => one.name.localeCompare(other.name))
    .slice(0, maxViews);
}

export function withoutView(views: readonly SavedView[], name: string): SavedView[] {
  return views.filter((view) => view.name !== name);
}

/** Whether two views are the same, in whatever order their parameters are. */
export function isSameSearch(one: string, other: string): boolean {
  return sorted(one) === sorted(other);
}

function sorted(search: string): string {
  const said = Object.entries(parseSearch(search)).filter(([name, value]) => value !== asAtFirst[name]);
  return stringifySearch(Object.fromEntries(said.sort()));
}

function isView(value: unknown): value is SavedView {
  if (value === null || typeof value !== "object") return false;
  const { name, search } = value as Partial<Record<keyof SavedView, unknown>>;
  return typeof name === "string" && typeof search === "string";
}
