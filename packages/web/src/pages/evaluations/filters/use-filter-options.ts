import { useQuery } from "@tanstack/react-query";
import { appsQuery } from "../../../data/apps.ts";
import { latestProfilesQuery } from "../../../data/evaluator-profiles.ts";
import { evaluatorsQuery } from "../../../data/evaluators.ts";
import { usePresage } from "../../../data/use-presage.ts";
import type { ExplorerSearch } from "../explorer-search.ts";

export interface FilterOptions {
  apps: string[];
  evaluators: string[];
  families: string[];
  /** Profiles of the chosen family, if any. */
  profiles: string[];
}

/** Includes the current choice even if it no longer exists. */
export function useFilterOptions(search: ExplorerSearch): FilterOptions {
  const presage = usePresage();
  const { data: apps = [] } = useQuery(appsQuery(presage));
  const { data: evaluators = [] } = useQuery(evaluatorsQuery(presage));
  const { data: profiles = [] } = useQuery(latestProfilesQuery(presage, { includesArchived: true }));
  const chosen = evaluators.find(({ id, aliases }) => [id, ...aliases].includes(search.evaluator ?? ""));
  const family = search.family ?? chosen?.evaluator_family;
  const fitting = profiles.filter(
    ({ evaluator_family }) => family === undefined || evaluator_family === family,
  );
  return {
    apps: sorted(apps, search.app),
    evaluators: sorted(
      evaluators.map(({ id }) => id),
      search.evaluator,
    ),
    families: sorted(
      evaluators.map(({ evaluator_family }) => evaluator_family),
      search.family,
    ),
    profiles: sorted(
      fitting.map(({ name }) => name),
      search.profile,
    ),
  };
}

function sorted(known: readonly string[], chosen: string | undefined): string[] {
  return [...new Set(chosen === undefined ? known : [...known, chosen])].sort();
}
