import { ServiceError } from "../platform/errors.ts";
import type { KeysetPage, ListPart } from "../platform/storage/lists.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { type ExternalCounts, withExternalCounts } from "./external/external-counts.ts";
import type { Run } from "./run.ts";
import { type RunFilter, selectRun, selectRuns } from "./runs-store.ts";

export async function findRun(
  services: { store: Store; externalCounts: ExternalCounts },
  requester: Requester,
  id: string,
): Promise<Run> {
  const run = await selectRun(services.store.briefReader(requester), requester.accountId, id);
  if (run === undefined) throw noSuchRun();
  const [found = run] = await withExternalCounts(services, requester, [run]);
  return found;
}

/** For figures made of several reads: throws if a run was deleted meanwhile, as some of its rows may have been missing. */
export async function refuseDeleted(
  { store }: { store: Store },
  requester: Requester,
  runs: readonly Pick<Run, "id">[],
): Promise<void> {
  const reader = store.briefReader(requester);
  for (const { id } of runs) {
    if ((await selectRun(reader, requester.accountId, id)) === undefined) throw noSuchRun();
  }
}

export function noSuchRun(): ServiceError {
  return new ServiceError("not_found", "There is no such run.");
}

/** One page of an account's runs, newest first. */
export async function listRuns(
  services: { store: Store; externalCounts: ExternalCounts },
  requester: Requester,
  filter: RunFilter,
  page: KeysetPage,
): Promise<ListPart<Run>> {
  const reader = services.store.briefReader(requester);
  const { rows, next } = await selectRuns(reader, requester.accountId, filter, page);
  return { rows: await withExternalCounts(services, requester, rows), next };
}
