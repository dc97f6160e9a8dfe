import { type EnvironmentConfig, isReservedName } from "@presage/contract";
import type { Changer } from "../platform/actor.ts";
import { ServiceError } from "../platform/errors.ts";
import { recordChange } from "../platform/record-change.ts";
import { doOnce } from "../platform/storage/do-once.ts";
import { nowMicros } from "../platform/storage/micros.ts";
import type { Once } from "../platform/storage/once.ts";
import { checkConfig } from "./check-config.ts";
import type { EnvironmentRevision } from "./environment.ts";
import type { EnvironmentServices } from "./environment-services.ts";
import { insertEnvironment, insertEnvironmentRevision, selectEnvironment } from "./environments-store.ts";
import { noSuchEnvironment } from "./find-environment.ts";
import { sandboxName } from "./sandbox-environment.ts";

export interface NewEnvironment {
  name: string;
  config: EnvironmentConfig;
  userId: string;
}

/** Makes an environment with its first revision. Throws an `InvalidEnvironmentError` for what cannot be used. */
export async function createEnvironment(
  services: EnvironmentServices,
  requester: Changer,
  { name, config, userId }: NewEnvironment,
  once?: Once,
): Promise<EnvironmentRevision> {
  const { accountId } = requester;
  if (isReservedName(name))
    throw new ServiceError(
      "bad_request",
      `The name ${name} is reserved: paths of Presage begin with it. Choose another one.`,
    );
  await checkConfig(services, accountId, config);
  return await doOnce(services.store.writer(requester), once, {
    async work(transaction): Promise<EnvironmentRevision> {
      const now = nowMicros();
      const id = Bun.randomUUIDv7();
      const row = {
        id,
        account_id: accountId,
        name,
        last_revision: 1,
        tasks: "{}",
        created_by: userId,
        created_at: now,
      };
      if (name === sandboxName || !(await insertEnvironment(transaction, row)))
        throw new ServiceError("conflict", `There is already an environment named ${JSON.stringify(name)}.`);
      const revision = { environment_id: id, revision: 1, config: JSON.stringify(config), created_at: now };
      await insertEnvironmentRevision(transaction, revision);
      await recordChange(transaction, requester, {
        action: "environment.create",
        objectId: id,
        detail: { name },
      });
      return { id, name, revision: 1, config, tasks: {}, times: { createdAt: now, revisedAt: now } };
    },
    toReceipt: (environment) => ({ name: environment.name }),
    async recall(receipt) {
      const wanted = { name: receipt.name, revision: 1 };
      const found = await selectEnvironment(services.store.database, accountId, wanted);
      if (found === undefined) throw noSuchEnvironment();
      // It may have tasks by now. A repeated request has the response of the first.
      return { ...found, tasks: {} };
    },
  });
}
