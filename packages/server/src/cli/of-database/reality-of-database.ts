import type { Changer } from "../../platform/audit.ts";
import { InvalidFieldError } from "../../platform/errors.ts";
import type { Store } from "../../platform/storage/store.ts";
import { createCheck } from "../../reality/checks.ts";
import { countedCheck, describeCheck, describeEnvironment } from "../../reality/show-check.ts";
import { watchReality } from "../../reality/watch.ts";
import { CommandError } from "../command.ts";
import type { Client } from "../connect.ts";

/** A command of its own shares its memory with nobody. */
const reserve = () => {};

/** What is replayed takes a server. */
const withoutServer = { realEnvironments: { find: () => undefined }, replays: { wake() {} } };

/** The owner's reality checks in an opened database, as a server has them. */
export function realityOfDatabase(
  services: { store: Store },
  requester: Changer,
  userId: string,
): Client["realityChecks"] {
  const realityOf = watchReality(services, () => {}).stateOf;
  return {
    async create(request) {
      if (!request.pairs)
        throw new CommandError(
          "Episodes and recordings are replayed by a server. Start one on this database, or name one with --server",
        );
      const wanted = { ...request, userId };
      const check = await createCheck({ ...services, ...withoutServer }, requester, wanted).catch(
        (error: unknown) => {
          throw error instanceof InvalidFieldError ? new CommandError(describe(error)) : error;
        },
      );
      return await countedCheck(services, requester, check);
    },
    get: (id) => describeCheck(services, requester, id, reserve),
    ofEnvironment: (name, query) =>
      describeEnvironment({ ...services, realityOf }, requester, name, query ?? {}, reserve),
  };
}

function describe({ path: [, index], message }: InvalidFieldError): string {
  return index === undefined ? `${message}.` : `Pair ${Number(index) + 1}: ${message}.`;
}
