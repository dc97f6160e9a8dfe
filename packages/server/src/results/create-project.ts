import type { Changer } from "../platform/actor.ts";
import { type Change, recordChange } from "../platform/record-change.ts";
import { doOnce } from "../platform/storage/do-once.ts";
import { nowMicros } from "../platform/storage/micros.ts";
import type { Once } from "../platform/storage/once.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { EvaluationServices } from "./evaluation-services.ts";
import { noSuchProject } from "./find-project.ts";
import { insertProjects, type ProjectRow, selectProject, selectProjectByName } from "./projects-store.ts";

export interface NewProject {
  name: string;
  userId: string;
}

export interface CreatedProject {
  project: ProjectRow;
  /** False if the account already had a project of this name. */
  isNew: boolean;
}

/** The account's project of a name, created if there is none: clients create their project before every experiment. */
export async function createProject(
  { store }: Pick<EvaluationServices, "store">,
  requester: Changer,
  { name, userId }: NewProject,
  once?: Once,
): Promise<CreatedProject> {
  const { accountId } = requester;
  return await doOnce(store.writer(requester), once, {
    async work(transaction) {
      const project = { id: Bun.randomUUIDv7(), name, created_by: userId, created_at: nowMicros() };
      const isNew = (await insertProjects(transaction, [{ ...project, account_id: accountId }])) > 0;
      if (isNew) await recordChange(transaction, requester, projectCreated(project));
      return { project: isNew ? project : await existing(transaction, accountId, name), isNew };
    },
    toReceipt: ({ project, isNew }) => ({ id: project.id, isNew }),
    async recall({ id, isNew }) {
      const project = await selectProject(store.database, accountId, id);
      if (project === undefined) throw noSuchProject();
      return { project, isNew };
    },
  });
}

export function projectCreated({ id, name }: Pick<ProjectRow, "id" | "name">): Change {
  return { action: "project.create", objectId: id, detail: { name } };
}

async function existing(transaction: Database, accountId: string, name: string): Promise<ProjectRow> {
  const project = await selectProjectByName(transaction, accountId, name);
  if (project === undefined) throw new Error("A project's name is taken, and no project has it");
  return project;
}
