import type { EnvironmentConfig } from "@presage/contract";
import type { Changer } from "../platform/actor.ts";
import { recordChange } from "../platform/record-change.ts";
import { nowMicros } from "../platform/storage/micros.ts";
import { checkConfig } from "./check-config.ts";
import type { EnvironmentRevision } from "./environment.ts";
import type { EnvironmentServices } from "./environment-services.ts";
import {
  insertEnvironmentRevision,
  lockEnvironment,
  selectEnvironment,
  updateLastRevision,
} from "./environments-store.ts";
import { noSuchEnvironment, refuseBuiltIn } from "./find-environment.ts";

/** Adds a revision in which the given fields are replaced, or removed where they are null. Episodes that have begun keep theirs. */
export async function reviseEnvironment(
  services: EnvironmentServices,
  requester: Changer,
  name: string,
  changes: EnvironmentConfig,
): Promise<EnvironmentRevision> {
  refuseBuiltIn(name);
  const { accountId } = requester;
  await checkConfig(services, accountId, changes);
  return await services.store
    .writer(requester)
    .transaction()
    .execute(async (transaction) => {
      // Locks it against other revisions until the transaction ends.
      if ((await lockEnvironment(transaction, accountId, name)) === undefined) throw noSuchEnvironment();
      const last = await selectEnvironment(transaction, accountId, { name });
      if (last?.times === undefined) throw noSuchEnvironment();
      const config = withoutNulls({ ...last.config, ...changes });
      const now = nowMicros();
      const revision = last.revision + 1;
      const row = { environment_id: last.id, revision, config: JSON.stringify(config), created_at: now };
      await insertEnvironmentRevision(transaction, row);
      await updateLastRevision(transaction, last.id, revision);
      await recordChange(transaction, requester, {
        action: "environment.revise",
        objectId: last.id,
        detail: { name, revision, fields: Object.keys(changes) },
      });
      return { ...last, revision, config, times: { ...last.times, revisedAt: now } };
    });
}

function withoutNulls(config: EnvironmentConfig): EnvironmentConfig {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null));
}
