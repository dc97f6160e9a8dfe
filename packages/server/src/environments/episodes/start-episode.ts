import { randomInt } from "node:crypto";
import type { TaskSplitName } from "@presage/contract";
import { notFound, ServiceError } from "../../platform/errors.ts";
import { createFairSlots, type FairSlots } from "../../platform/limits/turns.ts";
import { refuseClosedAccounts } from "../../platform/storage/closed-accounts-store.ts";
import { nowMicros } from "../../platform/storage/columns.ts";
import { doOnce, type Once, recallEarlier } from "../../platform/storage/once.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { countOf } from "../../platform/words.ts";
import type { EnvironmentRevision, IndexedTask, Task } from "../environment.ts";
import { holdEnvironment } from "../environments-store.ts";
import { findEnvironment, ifKnownSoon, type RealityServices } from "../find-environment.ts";
import { listTasks } from "../tasks.ts";
import { type Episode, findEpisode, noPosition } from "./episode.ts";
import type { NewEpisodeRow } from "./episode-writes-store.ts";
import { insertEpisode } from "./episodes-store.ts";

export interface NewEpisode {
  /** A new id if undefined. */
  id?: string;
  environment: string;
  /** The latest revision if undefined. */
  revision?: number;
  split: TaskSplitName;
  /** A task that the environment does not have; one of its own if undefined. */
  task?: Task | undefined;
  /** Drawn by the seed, or at random, if undefined. */
  index: number | undefined;
  seed: number | undefined;
  /** A label of the agent. */
  policy: string | undefined;
  apiKeyId: string | undefined;
}

export interface StartServices extends RealityServices {
  startTurns: FairSlots;
  /** Stores new episodes, many in one transaction. Returns whether this one was stored. */
  writeStart(start: NewEpisodeRow): Promise<boolean>;
}

/** Starts an episode in the latest revision of an environment. */
export async function startEpisode(
  services: StartServices,
  requester: Requester,
  wanted: NewEpisode,
  once?: Once,
): Promise<Episode> {
  const recall = ({ id }: { id: string }) => findEpisode(services, requester, id);
  const release = await services.startTurns.take(requester.accountId, requester.signal);
  try {
    const episode = await composeEpisode(services, requester, wanted).catch((error: unknown) => ({ error }));
    if ("error" in episode) {
      // What it was started from may have changed since.
      const earlier = await recallEarlier(services.store.database, once, recall);
      if (earlier !== undefined) return earlier;
      throw episode.error;
    }
    const receipt = { id: episode.row.id };
    const request = once && { ...once, receipt: JSON.stringify(receipt) };
    if (await services.writeStart({ row: episode.row, request })) return episode;
    // Storing it alone shows why it failed: the request was made before, or the account or environment is gone.
    return await doOnce(services.store.writer(requester), once, {
      async work(transaction): Promise<Episode> {
        await refuseClosedAccounts(transaction, [requester.accountId]);
        if (!(await holdEnvironment(transaction, episode.row.environment_id))) throw notFound("environment");
        await insertEpisode(transaction, episode.row);
        return episode;
      },
      toReceipt: () => receipt,
      recall,
    });
  } finally {
    release();
  }
}

/**
 * Trainers start all episodes of a batch together. Thousands are more than may wait for the database, where they would also take the
 * places of the account's other reads and changes.
 */
export function createStartTurns(): FairSlots {
  return createFairSlots({
    slots: 200,
    slotsEach: 50,
    queue: {
      maxWaitMs: 30_000,
      refuse: () =>
        new ServiceError("overloaded", "Too many episodes are being started at once. Try again later.", {
          retryAfterS: 1,
        }),
    },
  });
}

/** A new episode that is not stored yet. */
export async function composeEpisode(
  services: RealityServices,
  requester: Requester,
  wanted: NewEpisode,
): Promise<Episode> {
  const { accountId } = requester;
  const environment = await findEnvironment(services, requester, wanted.environment, wanted.revision);
  const looking = services.realityOf(requester, environment);
  const mayRefuse = environment.config.real?.on_alarm === "refuse";
  const reality = await (mayRefuse ? looking : ifKnownSoon(looking));
  if (reality?.state === "alarm" && mayRefuse)
    throw new ServiceError(
      "reality_alarm",
      `The environment ${environment.name} refuses new episodes: its false success rate is above the limit of ${reality.false_success_limit}. ${reality.sentence} They start again with a new revision of it, or once further checks end the alarm.`,
    );
  const { index, task } =
    wanted.task === undefined
      ? await findTask(services, requester, environment, wanted)
      : { index: noPosition, task: wanted.task };
  const now = nowMicros();
  const row = {
    id: wanted.id ?? Bun.randomUUIDv7(),
    account_id: accountId,
    environment_id: environment.id,
    environment: environment.name,
    revision: environment.revision,
    split: wanted.split,
    position: index,
    task: JSON.stringify(task),
    seed: wanted.seed ?? null,
    policy: wanted.policy ?? null,
    status: "open" as const,
    outcome: null,
    stop_reason: null,
    error: null,
    steps: 0,
    reward: null,
    failed_steps: 0,
    api_key_id: wanted.apiKeyId ?? null,
    created_at: now,
    last_active_at: now,
  };
  return { row, config: environment.config, task, reality };
}

async function findTask(
  services: { store: Store },
  requester: Requester,
  environment: EnvironmentRevision,
  { split, index, seed }: NewEpisode,
): Promise<IndexedTask> {
  const { name, tasks } = environment;
  const count = tasks[split] ?? 0;
  if (count === 0)
    throw new ServiceError("not_found", `The environment ${name} has no tasks in the split ${split}.`);
  const wanted = index ?? (seed === undefined ? randomInt(count) : drawBy(seed, count));
  const [task] = await listTasks(services, requester, { environment, split }, { from: wanted, limit: 1 });
  if (task?.index === wanted) return task;
  throw new ServiceError(
    "not_found",
    `The split ${split} of the environment ${name} has ${countOf(count, "task")}, counted from 0; there is none at ${wanted}.`,
  );
}

/** The same seed draws the same task. */
function drawBy(seed: number, count: number): number {
  return Number(Bun.hash.wyhash(String(seed)) % BigInt(count));
}
