import type { Presage } from "@presage/sdk";
import { PresageError } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";
import { taskNameOf } from "../format/words.ts";

const maxListed = 200;
const freshMs = 60_000;

/** The newest runs, datasets, environments and worlds, to find by name. */
export function recentWorkQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["palette", "recent"],
    async queryFn({ signal }) {
      const [runs, datasets, environments, worlds] = await Promise.all([
        presage.runs.listPage({ limit: maxListed }, { signal }),
        presage.datasets.list({ signal, atMost: maxListed }),
        presage.environments.list({ signal, atMost: maxListed }),
        presage.worlds.list({ signal, atMost: maxListed }),
      ]);
      return {
        isAll: [runs.data, datasets, environments, worlds].every(({ length }) => length < maxListed),
        runs: runs.data.map(({ id, name, status }) => ({ id, name, status })),
        datasets: datasets.map(({ id, name }) => ({ id, name })),
        environments: environments.map(({ name }) => name),
        worlds: worlds.map(({ name }) => name),
      };
    },
    staleTime: freshMs,
  });
}

/** An operation of the API, a guide or a section of one; `/docs` shows them. */
export interface ReferenceEntry {
  title: string;
  hint: string;
  /** Searched as well, but not shown. */
  keywords?: string;
  address: string;
}

export function referenceQuery() {
  return queryOptions({
    queryKey: ["palette", "reference"],
    queryFn: async ({ signal }): Promise<ReferenceEntry[]> =>
      (await fetch("/assets/reference.json", { signal })).json(),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export interface FoundById {
  kind: "Result" | "Run" | "Dataset" | "Prediction" | "Episode";
  id: string;
  name: string;
  address: string;
}

/** The result with the given id. */
export function resultByIdQuery(presage: Presage, id: string) {
  return queryOptions({
    queryKey: ["palette", "result", id],
    async queryFn({ signal }): Promise<FoundById[]> {
      const found = await findOrNone(presage.results.get(id, { signal }));
      if (found === undefined) return [];
      const address = `/evaluations?result=${id}`;
      return [{ kind: "Result", id, name: `Result ${id} of ${found.evaluator_id}`, address }];
    },
    staleTime: freshMs,
  });
}

/** The run, dataset, prediction or episode with the given id. */
export function byIdQuery(presage: Presage, id: string) {
  return queryOptions({
    queryKey: ["palette", "id", id],
    async queryFn({ signal }): Promise<FoundById[]> {
      const [run, dataset, prediction, episode] = await Promise.all([
        findOrNone(presage.runs.get(id, { signal })),
        findOrNone(presage.datasets.get(id, { signal })),
        findOrNone(presage.storedPredictions.get(id, { signal })),
        findOrNone(presage.episodes.get(id, { signal })),
      ]);
      const found: (FoundById | undefined)[] = [
        run && { kind: "Run", id, name: run.name ?? `Run ${id}`, address: `/runs/${id}` },
        dataset && { kind: "Dataset", id, name: dataset.name, address: `/datasets/${id}` },
        prediction && {
          kind: "Prediction",
          id,
          name: `Prediction ${id}`,
          address: `/predictions?open=${id}`,
        },
        episode && {
          kind: "Episode",
          id,
          name: `Episode of ${episode.environment}, ${taskNameOf(episode)}`,
          address: `/episodes/${id}`,
        },
      ];
      return found.filter((one) => one !== undefined);
    },
    staleTime: freshMs,
  });
}

async function findOrNone<Item>(getting: Promise<Item>): Promise<Item | undefined> {
  try {
    return await getting;
  } catch (error) {
    if (error instanceof PresageError && (error.category === "not_found" || error.status === 422))
      return undefined;
    throw error;
  }
}
