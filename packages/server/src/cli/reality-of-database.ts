import { findEnvironment } from "../environments/environments.ts";
import type { Changer } from "../platform/audit.ts";
import type { Store } from "../platform/storage/store.ts";
import { createCheck, InvalidPairError } from "../reality/checks.ts";
import { describeCheck, describeEnvironment, toCheck } from "../reality/checks-route.ts";
import { CommandError } from "./command.ts";
import type { Client } from "./connect.ts";

/** A command of its own shares its memory with nobody. */
const reserve = () => {};

/** The owner's reality checks in an opened database, as a server has them. */
export function realityOfDatabase(
  services: { store: Store },
  requester: Changer,
  userId: string,
): Client["realityChecks"] {
  return {
    async create(request) {
      if (request.environment) await findEnvironment(services, requester, request.environment);
      const made = createCheck(services, requester, { ...request, userId });
      return toCheck(
        await made.catch((error: unknown) => {
          throw error instanceof InvalidPairError
            ? new CommandError(`Pair ${error.index + 1}: ${error.message}.`)
            : error;
        }),
      );
    },
    get: (id) => describeCheck(services, requester, id, reserve),
    ofEnvironment: (name, query) => describeEnvironment(services, requester, name, query ?? {}, reserve),
  };
}
