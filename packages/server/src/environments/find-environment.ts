import { ServiceError } from "../platform/errors.ts";
import type { Requester } from "../platform/storage/reader.ts";
import type { EnvironmentRevision } from "./environment.ts";
import type { EnvironmentServices } from "./environment-services.ts";
import { selectEnvironment } from "./environments-store.ts";
import { sandboxEnvironment, sandboxName } from "./sandbox-environment.ts";

/** An environment of the account in its latest revision, or the built-in one. */
export async function findEnvironment(
  { store }: Pick<EnvironmentServices, "store">,
  requester: Requester,
  name: string,
): Promise<EnvironmentRevision> {
  if (name === sandboxName) return sandboxEnvironment;
  const found = await selectEnvironment(store.briefReader(requester), requester.accountId, { name });
  if (found === undefined) throw noSuchEnvironment();
  return found;
}

export function noSuchEnvironment(): ServiceError {
  return new ServiceError("not_found", "There is no such environment.");
}

/** Throws if an environment comes with Presage. */
export function refuseBuiltIn(name: string): void {
  if (name === sandboxName)
    throw new ServiceError("conflict", `The environment ${name} is built in and cannot be changed.`);
}
