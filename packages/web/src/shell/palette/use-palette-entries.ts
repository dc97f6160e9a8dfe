import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { usePresage } from "../../data/client.ts";
import { byIdQuery, recentWorkQuery, resultByIdQuery } from "../../data/palette.ts";
import { latestProfilesQuery } from "../../data/profiles.ts";
import { latestTaxonomiesQuery } from "../../data/taxonomies.ts";
import { goKeysOf } from "../go-keys.ts";
import { linkGroups } from "../navigation.tsx";
import { findEntries, kindOfId, type PaletteEntry, pagesGroup } from "./palette-entry.ts";

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
        links.map(({ to, label }) => ({
          id: to,
          group: pagesGroup,
          title: label,
          keys: goKeysOf(to),
          action: to,
        })),
      ),
      { id: "/account", group: pagesGroup, title: "Account and sessions", action: "/account" },
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
