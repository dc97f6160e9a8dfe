import { ServiceError } from "../platform/errors.ts";
import type { Requester } from "../platform/storage/reader.ts";
import type { EvaluationServices } from "./evaluation-services.ts";
import { type ProjectRow, selectProject } from "./projects-store.ts";

export async function findProject(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  id: string,
): Promise<ProjectRow> {
  const project = await selectProject(store.briefReader(requester), requester.accountId, id);
  if (project === undefined) throw noSuchProject();
  return project;
}

export function noSuchProject(): ServiceError {
  return new ServiceError("not_found", "There is no such project.");
}
