import type { EnvironmentRevision } from "@presage/contract";
import { toIsoInstant } from "../storage/micros.ts";
import type { Requester } from "../storage/reader.ts";
import type { EnvironmentServices } from "./environment-services.ts";
import { selectEnvironmentRevisions } from "./environments-store.ts";
import { findEnvironment } from "./find-environment.ts";
import { sandboxName } from "./sandbox-environment.ts";

/** One page of an environment's revisions below a number, the highest first. */
export async function listEnvironmentRevisions(
  services: Pick<EnvironmentServices, "store">,
  requester: Requester,
  name: string,
  { limit, below }: { limit: number; below: number | undefined },
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
