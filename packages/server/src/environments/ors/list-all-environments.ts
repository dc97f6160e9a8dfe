import type { Keyset } from "../../platform/storage/keyset.ts";
import type { Requester } from "../../platform/storage/reader.ts";
import type { EnvironmentRevision } from "../environment.ts";
import type { EnvironmentServices } from "../environment-services.ts";
import { listEnvironments } from "../list-environments.ts";
import { sandboxEnvironment, sandboxName } from "../sandbox-environment.ts";

/** Each may have a megabyte. */
const environmentsAtOnce = 50;

/** All environments of an account: the built-in one, then its own, newest first. */
export async function* listAllEnvironments(
  services: Pick<EnvironmentServices, "store">,
  requester: Requester,
): AsyncGenerator<EnvironmentRevision, void> {
  yield sandboxEnvironment;
  let after: Keyset | undefined;
  do {
    const page = { limit: environmentsAtOnce, after };
    const { environments, next } = await listEnvironments(services, requester, page);
    yield* environments.filter(({ name }) => name !== sandboxName);
    after = next;
  } while (after !== undefined);
}
