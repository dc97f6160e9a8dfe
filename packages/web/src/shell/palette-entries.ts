import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { usePresage } from "../data/client.ts";
import { latestProfilesQuery } from "../data/evaluators.ts";
import { byIdQuery, recentWorkQuery, resultByIdQuery } from "../data/palette.ts";
import { latestTaxonomiesQuery } from "../data/taxonomies.ts";
import { linkGroups } from "./navigation.tsx";

/** A place to go to, or something to do. */
export interface PaletteEntry {
  /** Unique among all. */
  id: string;
  /** The heading that it is listed under. */
  group: string;
  title: string;
  hint?: string | undefined;
  /** Found by it as well, but not shown. */
  keywords?: string | undefined;
  keys?: string | undefined;
  /** An address of the dashboard, or what it does. */
  action: string | (() => void);
}

const pagesGroup = "Pages";
const maxInGroup = 6;

/** What a query finds: what has it as its id, else pages and named things. */
export function usePaletteEntries(
  query: string,
  actions: readonly PaletteEntry[],
): { entries: PaletteEntry[]; isSearching: boolean } {
  const presage = usePresage();
  const { data: work } = useQuery(recentWorkQuery(presage));
  const { data: profiles } = useQuery(latestProfilesQuery(presage));
  const { data: taxonomies } = useQuery(latestTaxonomiesQuery(presage));
  const id = query.trim();
  const kind = kindOfId(query);
  const result = useQuery({ ...resultByIdQuery(presage, id), enabled: kind === "result" });
  const others = useQuery({ ...byIdQuery(presage, id), enabled: kind === "uuid" });

  const known = useMemo(
    () => [
      ...linkGroups.flatMap(({ links }) =>
        links.map(({ to, label, keys }) => ({ id: to, group: pagesGroup, title: label, keys, action: to })),
      ),
      ...actions,
      ...(work?.runs ?? []).map(({ id, name, status }) => ({
        id: `run ${id}`,
        group: "Runs",
        title: name ?? id,
        hint: status,
        keywords: id,
        action: `/runs/${id}`,
      })),
      ...(work?.datasets ?? []).map(({ id, name }) => ({
        id: `dataset ${id}`,
        group: "Datasets",
        title: name,
        keywords: id,
        action: `/datasets/${id}`,
      })),
      ...(work?.worlds ?? []).map((name) => ({
        id: `world ${name}`,
        group: "Worlds",
        title: name,
        action: `/worlds/${name}`,
      })),
      ...(work?.environments ?? []).flatMap((name) => [
        {
          id: `environment ${name}`,
          group: "Environments",
          title: name,
          action: `/environments/${name}`,
        },
        {
          id: `play ${name}`,
          group: "Environments",
          title: `Play ${name}`,
          hint: "yourself",
          action: `/environments/${name}/play`,
        },
      ]),
      ...(profiles ?? []).map(({ evaluator_family, name, public_id }) => ({
        id: `profile ${public_id}`,
        group: "Evaluators",
        title: name,
        hint: evaluator_family,
        keywords: public_id,
        action: `/evaluators/profiles/${public_id}`,
      })),
      ...(taxonomies ?? []).map(({ error_taxonomy_id: id, error_taxonomy_name: name }) => ({
        id: `taxonomy ${id}`,
        group: "Error taxonomies",
        title: name,
        keywords: id,
        action: `/error-taxonomies/${id}`,
      })),
    ],
    [actions, work, profiles, taxonomies],
  );

  const byId = [result, others].flatMap(({ data }) => data ?? []);
  const found = byId.map(({ kind, id, name, address }) => ({
    id: `found ${id} ${kind}`,
    group: "By id",
    title: name,
    hint: kind,
    action: address,
  }));
  return {
    entries: [...(kind === undefined ? [] : found), ...findEntries(known, query)],
    isSearching: result.isFetching || others.isFetching,
  };
}

/** The entries with all words of a query, those that begin with it first; a few of each group but the pages. */
export function findEntries(entries: readonly PaletteEntry[], query: string): PaletteEntry[] {
  const wanted = query.trim().toLowerCase();
  const words = wanted.split(/\s+/);
  const found = entries
    .map((entry) => ({ entry, rank: rankOf(entry, wanted, words) }))
    .filter(({ rank }) => rank > 0)
    .sort((one, other) => other.rank - one.rank)
    .map(({ entry }) => entry);
  // Groups stay in the order of their best entries.
  return [...Map.groupBy(found, ({ group }) => group)].flatMap(([group, listed]) =>
    group === pagesGroup ? listed : listed.slice(0, maxInGroup),
  );
}

function rankOf({ title, hint = "", keywords = "" }: PaletteEntry, wanted: string, words: string[]): number {
  const name = title.toLowerCase();
  const text = `${name} ${hint.toLowerCase()} ${keywords.toLowerCase()}`;
  if (!words.every((word) => text.includes(word))) return 0;
  if (name === wanted) return 4;
  if (name.startsWith(wanted)) return 3;
  return name.includes(wanted) ? 2 : 1;
}

/** What an id could be of: a result's is a number, those of most other things are UUIDs. */
export function kindOfId(query: string): "result" | "uuid" | undefined {
  const text = query.trim();
  if (/^\d{1,15}$/.test(text)) return "result";
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text) ? "uuid" : undefined;
}
