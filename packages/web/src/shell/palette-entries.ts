import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { apiKeysQuery } from "../data/api-keys.ts";
import { usePresage } from "../data/client.ts";
import { latestProfilesQuery } from "../data/evaluators.ts";
import { byIdQuery, recentWorkQuery, referenceQuery, resultByIdQuery } from "../data/palette.ts";
import { latestTaxonomiesQuery } from "../data/taxonomies.ts";
import { storeTheme } from "../theme.ts";
import { linkGroups } from "./navigation.tsx";

/** A place to go to, or an action. */
export interface PaletteEntry {
  /** Unique among all entries. */
  id: string;
  /** The kind of entry, in a word. */
  group: string;
  title: string;
  hint?: string | undefined;
  /** Searched as well, but not shown. */
  keywords?: string | undefined;
  keys?: string | undefined;
  /** Whether the entry is listed only after something has been typed. */
  isOnDemand?: boolean;
  /** An address, or a function to run. */
  action: string | (() => void);
}

/** Words of a question that name nothing. */
const fillers = new Set(
  "a an and are can do does for how i in is my of on or the to what where which why".split(" "),
);

const maxListed = 50;
/** The greatest number of entries of one kind before something has been typed. */
const maxOfKind = 4;

/** The entries that a query finds: things whose id it is, else pages and named things. */
export function usePaletteEntries(
  query: string,
  actions: readonly PaletteEntry[],
  isSignedIn: boolean,
): { entries: PaletteEntry[]; isSearching: boolean; isFailed: boolean; isAll: boolean } {
  const presage = usePresage();
  const enabled = isSignedIn;
  const recent = useQuery({ ...recentWorkQuery(presage), enabled });
  const { data: profiles } = useQuery({ ...latestProfilesQuery(presage), enabled });
  const { data: taxonomies } = useQuery({ ...latestTaxonomiesQuery(presage), enabled });
  const { data: keys } = useQuery({ ...apiKeysQuery(presage), enabled });
  const reference = useQuery(referenceQuery());
  const work = recent.data;
  const id = query.trim();
  const kind = kindOfId(query);
  const result = useQuery({ ...resultByIdQuery(presage, id), enabled: enabled && kind === "result" });
  const others = useQuery({ ...byIdQuery(presage, id), enabled: enabled && kind === "uuid" });

  const known = useMemo(
    () => [
      ...(isSignedIn ? pages : []),
      ...actions,
      ...themeActions,
      ...(work?.runs ?? []).map(({ id, name, status }) => ({
        id: `run ${id}`,
        group: "Run",
        title: name ?? id,
        hint: status,
        keywords: id,
        action: `/runs/${id}`,
      })),
      ...(work?.datasets ?? []).map(({ id, name }) => ({
        id: `dataset ${id}`,
        group: "Dataset",
        title: name,
        keywords: id,
        action: `/datasets/${id}`,
      })),
      ...(work?.worlds ?? []).map((name) => ({
        id: `world ${name}`,
        group: "World",
        title: name,
        action: `/worlds/${name}`,
      })),
      ...(work?.environments ?? []).flatMap((name) => [
        {
          id: `environment ${name}`,
          group: "Environment",
          title: name,
          action: `/environments/${name}`,
        },
        {
          id: `play ${name}`,
          group: "Action",
          title: `Play ${name}`,
          isOnDemand: true,
          action: `/environments/${name}/play`,
        },
      ]),
      ...(profiles ?? []).map(({ evaluator_family, name, public_id }) => ({
        id: `profile ${public_id}`,
        group: "Evaluator",
        title: name,
        hint: evaluator_family,
        keywords: public_id,
        action: `/evaluators/profiles/${public_id}`,
      })),
      ...(taxonomies ?? []).map(({ error_taxonomy_id: id, error_taxonomy_name: name }) => ({
        id: `taxonomy ${id}`,
        group: "Error taxonomy",
        title: name,
        keywords: id,
        action: `/error-taxonomies/${id}`,
      })),
      ...(keys ?? [])
        .filter(({ revoked_at }) => !revoked_at)
        .map(({ id, name }) => ({
          id: `revoke ${id}`,
          group: "Action",
          title: `Revoke ${name}`,
          keywords: "API key",
          isOnDemand: true,
          action: `/api-keys?revoke=${id}`,
        })),
      ...(reference.data ?? []).map(({ title, hint, keywords, address }) => ({
        id: address,
        group: address.startsWith("/docs/guides/") ? "Guide" : "Reference",
        title,
        hint,
        keywords,
        isOnDemand: true,
        action: address,
      })),
    ],
    [isSignedIn, actions, work, profiles, taxonomies, keys, reference.data],
  );

  const byId = [result, others].flatMap(({ data }) => data ?? []);
  const found = byId.map(({ kind, id, name, address }) => ({
    id: `found ${id} ${kind}`,
    group: kind,
    title: name,
    action: address,
  }));
  return {
    entries: [...(kind === undefined ? [] : found), ...findEntries(known, query)],
    isSearching: [recent, reference, result, others].some(({ isFetching }) => isFetching),
    isFailed: [recent, reference, result, others].some(({ isError }) => isError),
    isAll: work?.isAll !== false,
  };
}

const action = (title: string, action: PaletteEntry["action"], keywords?: string): PaletteEntry => ({
  id: title,
  group: "Action",
  title,
  keywords,
  action,
});

export const paletteActions: readonly PaletteEntry[] = [
  action("New run", "/runs/new", "start evaluate dataset"),
  action("Import traces", "/datasets?upload=true", "upload dataset file"),
];

/** Actions that need no session. */
const themeActions: readonly PaletteEntry[] = [
  action("Dark theme", () => storeTheme("dark"), "mode"),
  action("Light theme", () => storeTheme("light"), "mode"),
  action("Theme of the device", () => storeTheme("system"), "system mode"),
].map((one) => ({ ...one, isOnDemand: true }));

const pages: PaletteEntry[] = [
  ...linkGroups.flatMap(({ links }) =>
    links.map(({ to, label, keys }) => ({ id: to, group: "Page", title: label, keys, action: to })),
  ),
];

/** The entries with all words of a query, else with most of them, the best match of any kind first; without a query, actions, recent things and pages. */
export function findEntries(entries: readonly PaletteEntry[], query: string): PaletteEntry[] {
  const wanted = query.trim().toLowerCase();
  if (wanted === "") {
    const kinds = Map.groupBy(entries, ({ group }) => group);
    const { Action: first = [], Page: last = [], ...others } = Object.fromEntries(kinds);
    return [first, ...Object.values(others).map((ofKind) => ofKind.slice(0, maxOfKind)), last]
      .flat()
      .filter(({ isOnDemand }) => !isOnDemand);
  }
  const all = wanted.split(/[\s?]+/).filter(Boolean);
  const telling = all.filter((word) => !fillers.has(word));
  const words = telling.length === 0 ? wanted.split(/\s+/) : telling;
  const found = ranked(entries, (entry) => rankOf(entry, wanted, words));
  return found.length > 0 ? found : ranked(entries, (entry) => countOf(words, entry));
}

function ranked(entries: readonly PaletteEntry[], rank: (entry: PaletteEntry) => number): PaletteEntry[] {
  return entries
    .map((entry) => ({ entry, rank: rank(entry) }))
    .filter(({ rank }) => rank > 0)
    .sort((one, other) => other.rank - one.rank)
    .slice(0, maxListed)
    .map(({ entry }) => entry);
}

/** How many of the words an entry has, if that is at least half. */
function countOf(words: readonly string[], { title, hint = "", keywords = "" }: PaletteEntry): number {
  const text = `${title} ${hint} ${keywords}`.toLowerCase();
  const count = words.filter((word) => text.includes(word)).length;
  return 2 * count < words.length ? 0 : count;
}

function rankOf({ title, hint = "", keywords = "" }: PaletteEntry, wanted: string, words: string[]): number {
  const name = title.toLowerCase();
  const text = `${name} ${hint.toLowerCase()} ${keywords.toLowerCase()}`;
  if (!words.every((word) => text.includes(word))) return 0;
  if (name === wanted) return 6;
  if (name.startsWith(wanted)) return 5;
  const inName = name.split(/[^\p{L}\p{N}]+/u);
  if (words.every((word) => inName.some((one) => one.startsWith(word)))) return 4;
  if (name.includes(wanted)) return 3;
  return words.every((word) => name.includes(word)) ? 2 : 1;
}

/** The kind of thing that an id may belong to: results have numbers, most other things have UUIDs. */
export function kindOfId(query: string): "result" | "uuid" | undefined {
  const text = query.trim();
  if (/^\d{1,15}$/.test(text)) return "result";
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text) ? "uuid" : undefined;
}
