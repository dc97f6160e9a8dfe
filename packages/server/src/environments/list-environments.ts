import type { Keyset, KeysetPage } from "../platform/storage/keyset.ts";
import { refuseLargePage } from "../platform/storage/read-in-pieces.ts";
import type { Requester } from "../platform/storage/reader.ts";
import type { EnvironmentRevision } from "./environment.ts";
import type { EnvironmentServices } from "./environment-services.ts";
import { selectEnvironmentSizes, selectEnvironments } from "./environments-store.ts";
import { sandboxEnvironment } from "./sandbox-environment.ts";

/** How many bytes a page of an account's environments has. Throws if they are too many. */
export async function measureEnvironments(
  { store }: Pick<EnvironmentServices, "store">,
  requester: Requester,
  page: KeysetPage,
): Promise<number> {
  const sizes = await selectEnvironmentSizes(store.briefReader(requester), requester.accountId, page);
  return refuseLargePage(sizes, "environments", "Ask for fewer environments with limit.");
}

/** One page of an account's environments, newest first. The built-in one is the last of all. */
export async function listEnvironments(
  { store }: Pick<EnvironmentServices, "store">,
  requester: Requester,
  page: KeysetPage,
): Promise<{ environments: EnvironmentRevision[]; next: Keyset | undefined }> {
  const { environments, next } = await selectEnvironments(
    store.briefReader(requester),
    requester.accountId,
    page,
  );
  return { environments: next === undefined ? [...environments, sandboxEnvironment] : environments, next };
}
