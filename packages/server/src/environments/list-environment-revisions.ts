import type { EnvironmentRevision } from "@presage/contract";
import { toIsoInstant } from "../platform/storage/micros.ts";
import { refuseLargePage } from "../platform/storage/read-in-pieces.ts";
import type { Requester } from "../platform/storage/reader.ts";
import type { EnvironmentServices } from "./environment-services.ts";
import { type RevisionPage, selectEnvironmentRevisions, selectRevisionSizes } from "./environments-store.ts";
import { findEnvironment } from "./find-environment.ts";
import { sandboxName } from "./sandbox-environment.ts";

/** How many bytes a page of an environment's revisions has. Throws if they are too many. */
export async function measureEnvironmentRevisions(
  services: Pick<EnvironmentServices, "store">,
  requester: Requester,
  name: string,
  page: RevisionPage,
): Promise<number> {
  const { id } = await findEnvironment(services, requester, name);
  const sizes = await selectRevisionSizes(services.store.briefReader(requester), id, page);
  return refuseLargePage(sizes, "revisions", "Ask for fewer revisions with limit.");
}

/** One page of an environment's revisions below a number, the highest first. */
export async function listEnvironmentRevisions(
  services: Pick<EnvironmentServices, "store">,
  requester: Requester,
  name: string,
  { limit, below }: RevisionPage,
): Promise<{ revisions: EnvironmentRevision[]; next: number | undefined }> {
  const { id, revision, config } = await findEnvironment(services, requester, name);
  if (name === sandboxName) return { revisions: [{ revision, config, created_at: null }], next: undefined };
  const reader = services.store.briefReader(requester);
  const found = await selectEnvironmentRevisions(reader, id, { limit: limit + 1, below });
  const revisions = found
    .slice(0, limit)
    .map(({ at, ...same }) => ({ ...same, created_at: toIsoInstant(at) }));
  return { revisions, next: found.length > limit ? revisions.at(-1)?.revision : undefined };
}
