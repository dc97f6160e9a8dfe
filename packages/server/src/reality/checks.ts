import type { RealityCheckRequest, RealityPair } from "@presage/contract";
import { type Changer, recordChange } from "../platform/audit.ts";
import { ServiceError } from "../platform/errors.ts";
import { nowMicros } from "../platform/storage/columns.ts";
import { doOnce, type Once } from "../platform/storage/once.ts";
import type { RealityChecksTable, RealityEpisodesTable } from "../platform/storage/schema/runs.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { deleteCheckRows, insertCheck, insertEpisodes, selectCheck } from "./checks-store.ts";
import type { CheckedEpisode } from "./figures.ts";

/** A pair that cannot be used, and why. */
export class InvalidPairError extends Error {
  readonly index: number;

  constructor(index: number, message: string) {
    super(message);
    this.name = "InvalidPairError";
    this.index = index;
  }
}

function noSuchCheck(): ServiceError {
  return new ServiceError("not_found", "There is no such reality check.");
}

/** Stores episodes whose two outcomes are known. Throws an `InvalidPairError` for one that is there twice. */
export async function createCheck(
  { store }: { store: Store },
  requester: Changer,
  { name, environment, false_success_limit, pairs, userId }: RealityCheckRequest & { userId: string },
  once?: Once,
): Promise<RealityChecksTable> {
  refuseRepeated(pairs);
  const { accountId } = requester;
  return await doOnce(store.writer(requester), once, {
    async work(transaction) {
      const check: RealityChecksTable = {
        ...{ id: Bun.randomUUIDv7(), account_id: accountId, name, environment: environment ?? null },
        ...{ false_success_limit: false_success_limit ?? null, episodes: pairs.length },
        ...{ created_by: userId, created_at: nowMicros() },
      };
      await insertCheck(transaction, check);
      await insertEpisodes(
        transaction,
        pairs.map((pair, index) => toRow(check.id, index + 1, pair)),
      );
      await recordChange(transaction, requester, {
        action: "reality_check.create",
        objectId: check.id,
        detail: { name, episodes: pairs.length },
      });
      return check;
    },
    toReceipt: ({ id }) => ({ id }),
    recall: async (receipt) => findCheck({ store }, requester, String(receipt.id)),
  });
}

function refuseRepeated(pairs: readonly RealityPair[]): void {
  const seen = new Map<string, number>();
  for (const [index, { task_id, episode_id, policy }] of pairs.entries()) {
    const key = JSON.stringify([task_id, episode_id ?? null, policy ?? null]);
    const before = seen.get(key);
    if (before !== undefined)
      throw new InvalidPairError(index, `The same task, episode and policy are in pair ${before + 1}`);
    seen.set(key, index);
  }
}

function toRow(
  check_id: string,
  position: number,
  { task_id, episode_id, policy, simulated, real, replayed }: RealityPair,
): RealityEpisodesTable {
  const flag = (value: boolean) => (value ? 1 : 0);
  return {
    ...{ check_id, position, task_id, episode_id: episode_id ?? null, policy: policy ?? null },
    ...{ simulated: flag(simulated), real: flag(real) },
    replayed: typeof replayed === "boolean" ? flag(replayed) : null,
  };
}

export async function findCheck(
  { store }: { store: Store },
  requester: Requester,
  id: string,
): Promise<RealityChecksTable> {
  const found = await selectCheck(store.briefReader(requester), requester.accountId, id);
  if (found === undefined) throw noSuchCheck();
  return found;
}

/** Deletes a reality check. The episodes that it is of stay. */
export async function deleteCheck(
  { store }: { store: Store },
  requester: Changer,
  id: string,
): Promise<void> {
  await store
    .writer(requester)
    .transaction()
    .execute(async (transaction) => {
      const name = await deleteCheckRows(transaction, requester.accountId, id);
      if (name === undefined) throw noSuchCheck();
      await recordChange(transaction, requester, {
        action: "reality_check.delete",
        objectId: id,
        detail: { name },
      });
    });
}

/** An episode as figures take it. */
export function toChecked(row: RealityEpisodesTable): CheckedEpisode {
  const { check_id: checkId, position, task_id: task, episode_id: episodeId, policy, replayed } = row;
  return {
    ...{ checkId, position, task, episodeId, policy },
    ...{ simulated: Number(row.simulated) === 1, real: Number(row.real) === 1 },
    ...(replayed !== null && { replayed: Number(replayed) === 1 }),
    ...{ simulatedReward: null, realReward: null, steps: null, divergedAt: null, verbs: null },
  };
}
