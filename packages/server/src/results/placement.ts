import { LRUCache } from "lru-cache";
import { type Changer, recordChange } from "../platform/audit.ts";
import { conflict } from "../platform/errors.ts";
import { nowMicros } from "../platform/storage/columns.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { inTransaction, type Store } from "../platform/storage/store.ts";
import { lruLimit } from "../platform/words.ts";
import {
  insertProject,
  type NewProject,
  selectOwnRunIds,
  selectProjectsByNames,
  selectProjectsOfExperiments,
} from "./projects-store.ts";
import type { ResultMetadata } from "./result.ts";

export type Placement = Pick<ResultMetadata, "projectId" | "experimentId">;

/** How a request says where its result belongs. */
export interface WantedPlacement extends Placement {
  /** Used instead of the id. */
  project: NewProject | undefined;
}

/**
 * Where results belong. The project of an experiment's results is the experiment's. Otherwise a project's name precedes an id,
 * and an unknown name means no project. Ids that do not exist in the account are kept as they are.
 */
export async function findPlacements(
  { store }: { store: Store },
  accountId: string,
  wanted: readonly WantedPlacement[],
): Promise<Placement[]> {
  return (await resolve(store.database, accountId, wanted)).placements;
}

/** Where results that are about to be written belong. Named projects that do not exist are created, all or none. */
export async function placeResults(
  services: { store: Store },
  requester: Changer,
  wanted: readonly WantedPlacement[],
): Promise<Placement[]> {
  const { accountId } = requester;
  const { store } = services;
  const { placements, missing } = await resolve(store.database, accountId, wanted);
  if (missing.length === 0) return placements;
  await inTransaction(store, requester, async (transaction) => {
    // Transactions with the same names wait for each other: always in one order, to avoid deadlocks.
    for (const { name, userId } of missing.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const id = Bun.randomUUIDv7();
      const row = { id, account_id: accountId, name, created_by: userId, created_at: nowMicros() };
      if (await insertProject(transaction, row))
        await recordChange(transaction, requester, "project.create", id, { name });
    }
  });
  return await findPlacements(services, accountId, wanted);
}

interface Resolved {
  placements: Placement[];
  /** Named projects that do not exist, without duplicates. */
  missing: NewProject[];
}

/** Reads only a few rows by their keys, so it need not queue behind long reads. */
async function resolve(
  database: Database,
  accountId: string,
  wanted: readonly WantedPlacement[],
): Promise<Resolved> {
  const experimentIds = wanted.flatMap(({ experimentId }) => experimentId ?? []);
  const projectOf = await selectProjectsOfExperiments(database, accountId, [...new Set(experimentIds)]);
  const projectOfExperiment = ({ experimentId }: WantedPlacement) =>
    experimentId === undefined ? undefined : projectOf.get(experimentId);
  const named = new Map<string, NewProject>();
  for (const one of wanted) {
    if (one.project !== undefined && projectOfExperiment(one) === undefined) {
      named.set(one.project.name, one.project);
    }
  }
  const found = await selectProjectsByNames(database, accountId, [...named.keys()]);
  const idOf = new Map(found.map(({ id, name }) => [name, id]));
  return {
    placements: wanted.map((one) => ({
      projectId:
        projectOfExperiment(one) ?? (one.project === undefined ? one.projectId : idOf.get(one.project.name)),
      experimentId: one.experimentId,
    })),
    missing: [...named.values()].filter(({ name }) => !idOf.has(name)),
  };
}

/** Texts that are not the id of a run that Presage made, each prefixed with the account. */
export type FreeRunIds = Pick<LRUCache<string, true>, "has" | "set">;

const maxFreeRunIds = 10_000;

/** One process's free ids. They stay free: new runs get new ids, and no run changes its kind. */
export function createFreeRunIds(): FreeRunIds {
  return new LRUCache<string, true>(lruLimit(maxFreeRunIds));
}

/** The form of runs' ids; any other text is free. */
const runId = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Only Presage adds results to the runs that it makes itself. Throws if one of these is the id of such a run of the account. */
export async function refuseRunIds(
  { store, freeRunIds }: { store: Store; freeRunIds: FreeRunIds },
  accountId: string,
  named: readonly (string | undefined)[],
): Promise<void> {
  const unknown = new Set<string>();
  for (const id of named) {
    if (id !== undefined && runId.test(id) && !freeRunIds.has(`${accountId}/${id}`)) unknown.add(id);
  }
  if (unknown.size === 0) return;
  // A few rows by their keys, so they need not queue behind long reads.
  const [own] = await selectOwnRunIds(store.database, accountId, [...unknown]);
  if (own !== undefined)
    throw conflict(
      `${own} is a run whose results Presage makes. Leave evaluation_run_id out, or name an experiment.`,
    );
  for (const id of unknown) freeRunIds.set(`${accountId}/${id}`, true);
}
