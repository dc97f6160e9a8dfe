import type { Changer } from "../platform/actor.ts";
import { recordChange } from "../platform/record-change.ts";
import { nowMicros } from "../platform/storage/micros.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { selectProjectsOfExperiments } from "../runs/experiments-store.ts";
import { type NewProject, projectCreated } from "./create-project.ts";
import type { ResultMetadata } from "./evaluation-record.ts";
import type { EvaluationServices } from "./evaluation-services.ts";
import { insertProjects, selectProjectsByNames } from "./projects-store.ts";

/** The project and the experiment of a result. */
export type Placement = Pick<ResultMetadata, "projectId" | "experimentId">;

/** How a request says where its result belongs. */
export interface WantedPlacement extends Placement {
  /** In place of the id. */
  project: NewProject | undefined;
}

/**
 * Where results belong. The project of an experiment's results is the experiment's. Otherwise a named project precedes an id,
 * and one that does not exist stands for none. Ids that the account has nothing of are kept as they are.
 */
export async function findPlacements(
  { store }: Pick<EvaluationServices, "store">,
  accountId: string,
  wanted: readonly WantedPlacement[],
): Promise<Placement[]> {
  return (await resolve(store.database, accountId, wanted)).placements;
}

/** Where results that are about to be written belong. Projects that are named and do not exist are created, all or none. */
export async function placeResults(
  services: Pick<EvaluationServices, "store">,
  requester: Changer,
  wanted: readonly WantedPlacement[],
): Promise<Placement[]> {
  const { accountId } = requester;
  const { store } = services;
  const { placements, missing } = await resolve(store.database, accountId, wanted);
  if (missing.length === 0) return placements;
  const rows = missing.map(({ name, userId }) => ({
    id: Bun.randomUUIDv7(),
    account_id: accountId,
    name,
    created_by: userId,
    created_at: nowMicros(),
  }));
  await store
    .writer(requester)
    .transaction()
    .execute(async (transaction) => {
      for (const row of rows)
        if ((await insertProjects(transaction, [row])) > 0)
          await recordChange(transaction, requester, projectCreated(row));
    });
  return await findPlacements(services, accountId, wanted);
}

interface Resolved {
  placements: Placement[];
  /** Those of a name that no project has, each once. */
  missing: NewProject[];
}

/** From a few rows by their keys, not behind long reads. */
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
