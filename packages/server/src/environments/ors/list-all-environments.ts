import type { Keyset } from "../../storage/keyset.ts";
import type { Requester } from "../../storage/reader.ts";
import type { EnvironmentRevision } from "../environment.ts";
import type { EnvironmentServices } from "../environment-services.ts";
import { listEnvironments } from "../list-environments.ts";

const environmentsAtOnce = 1_000;

/** All environments of an account, newest first, then the built-in one. */
export async function* listAllEnvironments(
  services: Pick<EnvironmentServices, "store">,
  requester: Requester,
): AsyncGenerator<EnvironmentRevision, void> {
  let after: Keyset | undefined;
  do {
    const page = { limit: environmentsAtOnce, after };
    const { environments, next } = await listEnvironments(services, requester, page);
    yield* environments;
    after = next;
  } while (after !== undefined);
}
