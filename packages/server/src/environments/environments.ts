import {
  type EnvironmentConfig,
  type EnvironmentRevision as EnvironmentRevisionSchema,
  isReservedName,
  worldReference,
} from "@presage/contract";
import type { Registry } from "../evaluators/registry.ts";
import { findRewardIssue } from "../evaluators/resolve-evaluators.ts";
import { type Changer, recordChange, updateAuditDetail } from "../platform/audit.ts";
import { conflict, InvalidFieldError, notFound, ServiceError } from "../platform/errors.ts";
import { nowMicros, toIsoInstant } from "../platform/storage/columns.ts";
import { type NumberedPage, refuseLargePage, toNumberedPart } from "../platform/storage/lists.ts";
import { doOnce, type Once, recallEarlier } from "../platform/storage/once.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { inTransaction, type Requester, type Store } from "../platform/storage/store.ts";
import { countOf, withoutNulls } from "../platform/words.ts";
import { findReferred, type KnownWorlds } from "../worlds/find-world.ts";
import type { ReadyWorld } from "../worlds/world.ts";
import { holdWorld } from "../worlds/worlds-store.ts";
import { type EnvironmentRevision, sandboxName } from "./environment.ts";
import {
  deleteEnvironmentRows,
  insertEnvironment,
  insertEnvironmentRevision,
  lockEnvironment,
  selectEnvironment,
  selectEnvironmentRevisions,
  selectRevisionSizes,
  updateLastRevision,
} from "./environments-store.ts";
import { countEpisodesOf, deleteEpisodeRows, selectEpisodeIds } from "./episodes/episodes-store.ts";
import { findEnvironment, refuseBuiltIn } from "./find-environment.ts";
import { findRuleIssue, rewardOf } from "./rewards-and-ends.ts";

/** Everything that an environment's config may refer to. */
export interface ConfigServices {
  store: Store;
  registry: Registry;
  deployments: { find(name: string): unknown };
  knownWorlds: Pick<KnownWorlds, "find">;
  realEnvironments: { find(name: string): unknown };
}

const ofWorlds = ["deployment", "context", "params"] as const;

/** The config with its world pinned. The world cannot be deleted before the environment names it. */
async function withWorld(
  transaction: Database,
  config: EnvironmentConfig,
  world: ReadyWorld | undefined,
): Promise<EnvironmentConfig> {
  if (world === undefined) return config;
  if (!(await holdWorld(transaction, world.id)))
    throw new InvalidFieldError(["world"], "The world was deleted meanwhile");
  return { ...config, world: worldReference(world) };
}

/** A limit or continuous checks that are useless because nothing defines success. */
async function findIdleCheck(services: ConfigServices, requester: Requester, config: EnvironmentConfig) {
  const { real, stop } = config;
  const checked = (["false_success_limit", "share"] as const).find((name) => real?.[name]);
  if (checked === undefined || stop?.some(({ outcome }) => outcome === "success")) return undefined;
  if ((await rewardOf(services, requester, config)) !== undefined) return undefined;
  return new InvalidFieldError(
    ["real", checked],
    "Nothing says what success is: add a rule of success to stop, or a reward",
  );
}

/** What an environment's schema cannot check: that everything it names exists, and that its patterns compile. */
async function* findConfigIssues(
  services: ConfigServices,
  accountId: string,
  { deployment, params, stop, reward, real }: EnvironmentConfig,
): AsyncGenerator<InvalidFieldError> {
  if (real && services.realEnvironments.find(real.name) === undefined)
    yield new InvalidFieldError(
      ["real", "name"],
      `The operator declares no real environment named ${JSON.stringify(real.name)}`,
    );
  if (typeof deployment === "string" && services.deployments.find(deployment) === undefined)
    yield new InvalidFieldError(["deployment"], "There is no deployment of this name");
  if ((params?.stream ?? false) !== false)
    yield new InvalidFieldError(["params", "stream"], "Streaming is not supported");
  for (const [index, rule] of (stop ?? []).entries()) {
    const issue = findRuleIssue(rule);
    if (issue !== undefined) yield new InvalidFieldError(["stop", index, issue.field], issue.message);
  }
  if (reward) {
    const issue = await findRewardIssue(services, accountId, reward);
    if (issue !== undefined) yield new InvalidFieldError(["reward", issue.field], issue.message);
  }
}

/**
 * The world that plays an environment, if the changes name one. Throws for everything in the changes that cannot be used, and for what
 * does not fit together in the config that they lead to.
 */
async function checkConfig(
  services: ConfigServices,
  requester: Requester,
  config: EnvironmentConfig,
  changes: EnvironmentConfig,
): Promise<ReadyWorld | undefined> {
  const issues = await Array.fromAsync(findConfigIssues(services, requester.accountId, changes));
  const both = config.world ? ofWorlds.find((name) => config[name]) : undefined;
  if (both !== undefined)
    issues.push(new InvalidFieldError([both], "A world has its own; name one of the two"));
  const world = changes.world ? await findReferred(services, requester, changes.world) : undefined;
  const isWorldUnknown = world !== undefined && "reason" in world;
  if (isWorldUnknown) issues.push(new InvalidFieldError(["world"], world.reason));
  const idle = isWorldUnknown ? undefined : await findIdleCheck(services, requester, config);
  if (idle !== undefined) issues.push(idle);
  const [first, ...others] = issues;
  if (first !== undefined) throw new InvalidFieldError(first.path, first.message, others);
  return isWorldUnknown ? undefined : world;
}

/** Creates an environment with its first revision. Throws an `InvalidFieldError` for fields that cannot be used. */
export async function createEnvironment(
  services: ConfigServices,
  requester: Changer,
  { name, config: given, userId }: { name: string; config: EnvironmentConfig; userId: string },
  once?: Once,
): Promise<EnvironmentRevision> {
  const { accountId } = requester;
  const recall = async (receipt: { id?: string; name: string }): Promise<EnvironmentRevision> => {
    const wanted = { name: receipt.name, revision: 1 };
    const found = await selectEnvironment(services.store.database, accountId, wanted);
    // Receipts of the version before have no id.
    if (found === undefined || (receipt.id ?? found.id) !== found.id) throw notFound("environment");
    // It may have tasks by now, but a repeated request gets the response of the first.
    return { ...found, tasks: {} };
  };
  const earlier = await recallEarlier(services.store.database, once, recall);
  if (earlier !== undefined) return earlier;
  if (isReservedName(name))
    throw new ServiceError(
      "bad_request",
      `The name ${name} is reserved: paths of Presage begin with it. Choose another one.`,
    );
  const world = await checkConfig(services, requester, given, given);
  return await doOnce(services.store.writer(requester), once, {
    async work(transaction): Promise<EnvironmentRevision> {
      const now = nowMicros();
      const id = Bun.randomUUIDv7();
      const config = await withWorld(transaction, given, world);
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
        throw conflict(`There is already an environment named ${JSON.stringify(name)}.`);
      const revision = { environment_id: id, revision: 1, config: JSON.stringify(config), created_at: now };
      await insertEnvironmentRevision(transaction, revision);
      await recordChange(transaction, requester, "environment.create", id, { name });
      return { id, name, revision: 1, config, tasks: {}, created_at: now, revised_at: now };
    },
    toReceipt: ({ id }) => ({ id, name }),
    recall,
  });
}

/** Episodes deleted in one transaction: few, because others write meanwhile. */
const episodesAtOnce = 20;
/** The most rounds of deleting episodes that were started meanwhile. */
const maxRounds = 10;

/** Deletes an environment with its tasks, and its episodes if wanted. After an interruption, it can be repeated. */
export async function deleteEnvironment(
  { store, knownEpisodes }: { store: Store; knownEpisodes: { forget(id: string): void } },
  requester: Changer,
  { name, withEpisodes }: { name: string; withEpisodes: boolean },
): Promise<void> {
  refuseBuiltIn(name);
  const { accountId } = requester;
  const { id } = await findEnvironment({ store }, requester, name);
  const writer = store.writer(requester);
  let deleted = 0;
  let eventId: string | undefined;

  /** Records one event for all episodes, even if the request is interrupted before the environment is deleted. */
  async function deleteSome(transaction: Database, ids: readonly string[]): Promise<void> {
    await deleteEpisodeRows(transaction, ids);
    deleted += ids.length;
    const detail = { environment: name, deleted };
    if (eventId !== undefined) await updateAuditDetail(transaction, eventId, detail);
    else eventId = await recordChange(transaction, requester, "episode.delete", "many", detail);
  }

  /** Returns false if episodes were started meanwhile that must be deleted first. */
  async function deleteRest(transaction: Database): Promise<boolean> {
    const locked = await lockEnvironment(transaction, accountId, name, "forUpdate");
    if (locked?.id !== id) throw notFound("environment");
    const episodes = await countEpisodesOf(transaction, accountId, id);
    if (episodes > 0 && withEpisodes) return false;
    if (episodes > 0)
      throw conflict(
        `The environment has ${countOf(episodes, "episode")}. Delete its episodes first, or send with_episodes=true.`,
      );
    await deleteEnvironmentRows(transaction, id);
    await recordChange(transaction, requester, "environment.delete", id, {
      name,
      with_episodes: withEpisodes,
    });
    return true;
  }

  for (let round = 0; round < maxRounds; round += 1) {
    while (withEpisodes) {
      const ids = await selectEpisodeIds(store.database, accountId, id, episodesAtOnce);
      if (ids.length === 0) break;
      await writer.transaction().execute((transaction) => deleteSome(transaction, ids));
      for (const episode of ids) knownEpisodes.forget(episode);
    }
    if (await writer.transaction().execute(deleteRest)) return;
  }
  throw conflict("Clients keep starting episodes in the environment. Stop them, then delete it.");
}

/** One page of an environment's revisions below a number, highest first. `reserve` gets their size in bytes before they are read. */
export async function listEnvironmentRevisions(
  services: { store: Store },
  requester: Requester,
  name: string,
  page: NumberedPage,
  reserve: (bytes: number) => void,
): Promise<{ data: EnvironmentRevisionSchema[]; next: string | null }> {
  const { id, revision, config } = await findEnvironment(services, requester, name);
  if (name === sandboxName) return { data: [{ revision, config, created_at: null }], next: null };
  const reader = services.store.briefReader(requester);
  const sizes = await selectRevisionSizes(reader, id, page);
  reserve(refuseLargePage(sizes, "revisions"));
  const found = await selectEnvironmentRevisions(reader, id, page);
  const { rows, next } = toNumberedPart(found, page, (one) => one.revision);
  return { data: rows.map((one) => ({ ...one, created_at: toIsoInstant(one.created_at) })), next };
}

/** Adds a revision in which the given fields are replaced, or removed if they are null. Episodes in progress keep their revision. */
export async function reviseEnvironment(
  services: ConfigServices,
  requester: Changer,
  name: string,
  changes: EnvironmentConfig,
): Promise<EnvironmentRevision> {
  refuseBuiltIn(name);
  const { accountId } = requester;
  const found = await selectEnvironment(services.store.briefReader(requester), accountId, { name });
  if (found === undefined) throw notFound("environment");
  // Outside the transaction: it may load a world, over the connection that the transaction uses.
  const world = await checkConfig(
    services,
    requester,
    withoutNulls({ ...found.config, ...changes }),
    changes,
  );
  return await inTransaction(services.store, requester, async (transaction) => {
    // Locks it against other revisions until the transaction ends.
    if ((await lockEnvironment(transaction, accountId, name)) === undefined) throw notFound("environment");
    const last = await selectEnvironment(transaction, accountId, { name });
    if (last === undefined) throw notFound("environment");
    if (last.revision !== found.revision)
      throw conflict(
        "The environment was revised at the same time. Look at its new revision, then try again.",
      );
    const config = await withWorld(transaction, withoutNulls({ ...last.config, ...changes }), world);
    const now = nowMicros();
    const revision = last.revision + 1;
    const row = { environment_id: last.id, revision, config: JSON.stringify(config), created_at: now };
    await insertEnvironmentRevision(transaction, row);
    await updateLastRevision(transaction, last.id, revision);
    await recordChange(transaction, requester, "environment.revise", last.id, {
      name,
      revision,
      fields: Object.keys(changes),
    });
    return { ...last, revision, config, revised_at: now };
  });
}
