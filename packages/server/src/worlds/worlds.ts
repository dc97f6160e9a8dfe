import { isReservedName, type WorldCalibration, type WorldConfig, type WorldPins } from "@presage/contract";
import { worldDefaults } from "@presage/contract/defaults";
import { findNamedDataset, findRevision } from "../datasets/datasets.ts";
import type { Registry } from "../evaluators/registry.ts";
import { findRewardIssue } from "../evaluators/resolve-evaluators.ts";
import { type Changer, recordChange } from "../platform/audit.ts";
import { conflict, InvalidFieldError, issueIfGone, ServiceError } from "../platform/errors.ts";
import { nowMicros } from "../platform/storage/columns.ts";
import { doOnce, type Once, recallEarlier } from "../platform/storage/once.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { inTransaction, type Requester, type Store } from "../platform/storage/store.ts";
import { andMore, sha256Hex, withoutNulls } from "../platform/words.ts";
import { paramsThrough } from "./complete-through-world.ts";
import { defaultSamples } from "./confidence.ts";
import { filterOf, findWorld, type KnownWorlds, noSuchWorld } from "./find-world.ts";
import { type Indexes, UnusableExamplesError } from "./indexes.ts";
import { isRecords, systemTurnOf, type WorldRevision } from "./world.ts";
import {
  deleteWorldRows,
  insertWorld,
  insertWorldRevision,
  lockWorld,
  updateArchived,
} from "./worlds-store.ts";

/** A field of a world that cannot be used, and why. */
export class InvalidWorldError extends InvalidFieldError {}

/** Services for making worlds. */
export interface WorldVerbServices {
  store: Store;
  indexes: Indexes;
  knownWorlds: KnownWorlds;
  registry: Registry;
  deployments: { find(name: string): unknown };
}

export interface NewWorld {
  name: string;
  config: WorldConfig;
  /** The pins of the world that the new one is a copy of. */
  copied?: WorldPins | null | undefined;
  userId: string;
}

/** Makes a world with its first revision. Throws an `InvalidWorldError` for what cannot be used. */
export async function createWorld(
  services: WorldVerbServices,
  requester: Changer,
  { name, config: given, copied, userId }: NewWorld,
  once?: Once,
): Promise<WorldRevision> {
  const { accountId } = requester;
  const recall = ({ name, revision = 1 }: { name: string; revision: number }) =>
    findWorld(services, requester, { name: String(name), revision: Number(revision) });
  const earlier = await recallEarlier(services.store.database, once, recall);
  if (earlier !== undefined) return earlier;
  if (isReservedName(name))
    throw new ServiceError("bad_request", `The name ${name} is reserved. Choose another one.`);
  if (services.deployments.find(name) !== undefined)
    throw conflict(`There is already a deployment named ${name}, and requests could not tell the two apart.`);
  const config = toStored(given);
  const pinned = await pin(services, requester, config, { copied });
  const world = await doOnce(services.store.writer(requester), once, {
    async work(transaction): Promise<WorldRevision> {
      const now = nowMicros();
      const id = Bun.randomUUIDv7();
      const row = { id, account_id: accountId, name, created_by: userId, created_at: now };
      const revision = await insertWorld(transaction, row);
      if (revision === undefined) throw conflict(`There is already a world named ${JSON.stringify(name)}.`);
      await insertWorldRevision(transaction, toRow(id, revision, config, pinned, now));
      await recordChange(transaction, requester, "world.create", id, { name });
      return {
        id,
        name,
        revision,
        config,
        pinned,
        archived_at: null,
        created_at: now,
        revised_at: now,
      };
    },
    toReceipt: ({ name, revision }) => ({ name, revision }),
    recall,
  });
  services.knownWorlds.forget(accountId, name);
  return world;
}

function toRow(id: string, revision: number, config: WorldConfig, pinned: WorldPins, now: number) {
  const texts = { config: JSON.stringify(config), pinned: JSON.stringify(pinned) };
  return { world_id: id, revision, ...texts, created_at: now };
}

/** Adds a revision in which the given fields are replaced, or removed if they are null. Archiving alone adds no revision. */
export async function reviseWorld(
  services: WorldVerbServices,
  requester: Changer,
  name: string,
  { archived, ...changes }: WorldConfig & { archived?: boolean | undefined },
): Promise<WorldRevision> {
  const before = await findWorld(services, requester, { name });
  const config = toStored({ ...before.config, ...changes });
  const isRevised = Object.keys(changes).length > 0;
  const kept = "examples" in changes ? undefined : before.pinned.examples;
  const pinned = isRevised ? await pin(services, requester, config, { before, kept }) : before.pinned;
  return await insertNext(services, requester, before, {
    config,
    pinned,
    archived,
    fields: Object.keys(changes),
  });
}

interface Change {
  config?: WorldConfig;
  pinned: WorldPins;
  archived?: boolean | undefined;
  /** The fields that the next revision changes. If there are none, no revision is added. */
  fields: readonly string[];
}

async function insertNext(
  { store, knownWorlds }: Pick<WorldVerbServices, "store" | "knownWorlds">,
  requester: Changer,
  before: WorldRevision,
  { config = before.config, pinned, archived, fields }: Change,
): Promise<WorldRevision> {
  const { accountId } = requester;
  const { id, name } = before;
  const revised = await inTransaction(store, requester, async (transaction): Promise<WorldRevision> => {
    const locked = await lockWorld(transaction, accountId, name);
    if (locked === undefined) throw noSuchWorld();
    if (locked.id !== id || locked.last_revision !== before.revision)
      throw conflict("The world was revised meanwhile. Try again.");
    const now = nowMicros();
    const archivedAt = archived === undefined ? before.archived_at : archived ? now : null;
    await updateArchived(transaction, id, archivedAt);
    const isRevised = fields.length > 0;
    const revision = before.revision + (isRevised ? 1 : 0);
    if (isRevised) await insertWorldRevision(transaction, toRow(id, revision, config, pinned, now));
    const detail = { name, revision, fields, archived };
    await recordChange(transaction, requester, "world.revise", id, detail);
    const times = { archived_at: archivedAt, revised_at: isRevised ? now : before.revised_at };
    return { ...before, revision, config, pinned, ...times };
  });
  knownWorlds.forget(accountId, name);
  return revised;
}

/** What would fail without a world, in words: environments, and runs that have not ended. */
export type WorldUses = (transaction: Database, accountId: string, name: string) => Promise<string[]>;

/** How many uses a refusal names. */
const namedUses = 5;

/** Deletes a world with its revisions, unless something uses it. */
export async function deleteWorld(
  services: Pick<WorldVerbServices, "store" | "knownWorlds"> & { worldUses: WorldUses },
  requester: Changer,
  name: string,
): Promise<void> {
  await inTransaction(services.store, requester, async (transaction) => {
    const world = await lockWorld(transaction, requester.accountId, name);
    if (world === undefined) throw noSuchWorld();
    const uses = await services.worldUses(transaction, requester.accountId, name);
    if (uses.length > 0)
      throw conflict(`The world ${name} is used by ${andMore(uses.slice(0, namedUses), uses.length)}.`);
    await deleteWorldRows(transaction, world.id);
    await recordChange(transaction, requester, "world.delete", world.id, { name });
  });
  services.knownWorlds.forget(requester.accountId, name);
}

/** Makes a revision that differs in its calibration alone. */
export async function addCalibration(
  services: Pick<WorldVerbServices, "store" | "knownWorlds">,
  requester: Changer,
  before: WorldRevision,
  calibration: WorldCalibration,
): Promise<WorldRevision> {
  const pinned = { ...before.pinned, calibration };
  return await insertNext(services, requester, before, { pinned, fields: ["calibration"] });
}

const noSuchDataset = "There is no dataset of this name";

interface Pinning {
  before?: WorldRevision;
  kept?: WorldPins["examples"] | undefined;
  copied?: WorldPins | null | undefined;
}

/** Resolves what a world names, and makes its examples searchable. A calibration stays valid for as long as answers stay the same. */
async function pin(
  services: WorldVerbServices,
  requester: Requester,
  config: WorldConfig,
  { before, kept, copied }: Pinning = {},
): Promise<WorldPins> {
  const { model, confidence, reward } = config;
  const find = (name: string | null | undefined, path: string[]) => {
    if (typeof name === "string" && services.deployments.find(name) === undefined)
      throw new InvalidWorldError(path, "There is no deployment of this name");
  };
  if (!isRecords(model)) {
    find(model?.deployment, ["model", "deployment"]);
    const { seed, stream } = model?.params ?? {};
    if (stream === true)
      throw new InvalidWorldError(["model", "params", "stream"], "Streaming is not supported");
    if (typeof seed === "number" && !Number.isSafeInteger(seed))
      throw new InvalidWorldError(["model", "params", "seed"], "A seed this large cannot be counted up");
  }
  find(confidence?.escalate_to, ["confidence", "escalate_to"]);
  if (confidence?.below === "escalate" && !confidence.escalate_to)
    throw new InvalidWorldError(["confidence", "escalate_to"], "Name the deployment that is asked then");
  const calibratedOn = confidence?.calibration;
  // A copy's dataset may be on another server, and an old one may have been deleted since.
  const isNew = JSON.stringify(calibratedOn) !== JSON.stringify(before?.config.confidence?.calibration);
  if (
    calibratedOn &&
    isNew &&
    !copied &&
    !(await findNamedDataset(services, requester, calibratedOn.dataset))
  )
    throw new InvalidWorldError(["confidence", "calibration", "dataset"], noSuchDataset);
  const issue = reward && (await findRewardIssue(services, requester.accountId, reward));
  if (issue) throw new InvalidWorldError(["reward", issue.field], issue.message);
  const pinsExamples = kept === undefined && config.examples;
  const known = (copied ?? before?.pinned)?.examples;
  const examples = pinsExamples
    ? await pinExamples(services, requester, pinsExamples, known)
    : (kept ?? null);
  const prompt_digest = sha256Hex(systemTurnOf(config));
  const pinned = { examples, prompt_digest };
  const isKept =
    before !== undefined &&
    toAnswering(config, pinned) === toAnswering(before.config, before.pinned) &&
    before.pinned.calibration !== null;
  if (copied) refuseOther(pinned, copied, confidence?.methods);
  const calibration = isKept ? before.pinned.calibration : toMoved(copied?.calibration, copied, examples);
  if (typeof confidence?.min_confidence === "number" && calibration === null)
    throw new InvalidWorldError(
      ["confidence", "min_confidence"],
      before?.pinned.calibration
        ? "This change ends the world's calibration: remove min_confidence with it, and calibrate again"
        : "The world is not calibrated: its numbers are not confidences yet",
    );
  return { ...pinned, calibration };
}

/** Adapts a calibration on the dataset of the examples, which has another id where the world was imported. */
function toMoved(
  calibration: WorldCalibration | null | undefined,
  copied: WorldPins | null | undefined,
  examples: WorldPins["examples"],
): WorldCalibration | null {
  if (!calibration || !examples || calibration.dataset_id !== copied?.examples?.dataset_id)
    return calibration ?? null;
  return { ...calibration, dataset_id: examples.dataset_id, revision: examples.revision };
}

/** Refuses other examples and another prompt, with which a calibration means nothing. */
function refuseOther(
  { examples, prompt_digest }: Pick<WorldPins, "examples" | "prompt_digest">,
  copied: WorldPins,
  methods: readonly string[] | undefined,
): void {
  const refuse = (field: string, said: string) => {
    throw new InvalidWorldError(["pinned", field], said);
  };
  if (prompt_digest !== copied.prompt_digest)
    refuse("prompt_digest", `The prompt is a different one: its digest is ${prompt_digest}`);
  const found = examples ? `the digest of their index is ${examples.index_digest}` : "there are none";
  if (examples?.index_digest !== copied.examples?.index_digest)
    refuse("examples", `The examples are different ones: ${found}`);
  if (copied.calibration && JSON.stringify(copied.calibration.methods) !== JSON.stringify(methods))
    refuse("calibration", "It is of other methods than the world has");
}

/** Everything that a world's answers, and the scores of its methods, are made from, with defaults for what it does not set. */
function toAnswering(
  { instructions, context, confidence, retrieval, history, model }: WorldConfig,
  { examples, prompt_digest }: Omit<WorldPins, "calibration">,
): string {
  const { history: steps, ...found } = worldDefaults;
  return JSON.stringify([
    isRecords(model) ? (model.answer ?? "adapted") : [model?.deployment, model?.fallback],
    paramsThrough({ config: { model } }, undefined),
    { ...found, ...withoutNulls(retrieval ?? {}) },
    { ...steps, ...withoutNulls(history ?? {}) },
    confidence?.methods,
    confidence?.samples ?? defaultSamples,
    // What the prompt is made from, because a request's own sections may replace some of it.
    instructions,
    context,
    prompt_digest,
    examples?.index_digest,
  ]);
}

async function pinExamples(
  { store, indexes }: WorldVerbServices,
  requester: Requester,
  examples: NonNullable<WorldConfig["examples"]>,
  known: WorldPins["examples"] | undefined,
): Promise<WorldPins["examples"]> {
  const dataset = await findNamedDataset({ store }, requester, examples.dataset);
  if (dataset === undefined) throw new InvalidWorldError(["examples", "dataset"], noSuchDataset);
  const wanted = { id: dataset.id, number: examples.revision ?? undefined };
  const revision = await findRevision({ store }, requester, wanted).catch(
    issueIfGone(["examples", "revision"]),
  );
  const { accountId } = requester;
  const source = { accountId, revisionId: revision.id, filter: filterOf(examples) };
  const figures = await indexes.describe(source, requester.signal).catch(refuseExamples);
  if (figures.examples === 0)
    throw new InvalidWorldError(["examples"], "No sample of the dataset is left to be an example");
  const isKnown = known?.digest === revision.digest && known.index_digest === figures.formerDigest;
  return {
    dataset_id: dataset.id,
    dataset: dataset.name,
    revision: revision.number,
    digest: revision.digest,
    count: figures.examples,
    trajectories: figures.trajectories,
    actions: figures.actions,
    features: featuresVersion,
    order: "revision",
    index_digest: isKnown ? figures.formerDigest : figures.digest,
  };
}

/** The version of the features that examples are found by: fields, normal form and windows of three bytes. */
const featuresVersion = "bytes3-1";

function refuseExamples(error: unknown): never {
  if (error instanceof UnusableExamplesError) throw new InvalidWorldError(["examples"], error.message);
  return issueIfGone(["examples"])(error);
}

/** A config as it is stored: without nulls, and with a single place for what chooses examples. */
function toStored({ examples, ...config }: WorldConfig): WorldConfig {
  if (!examples) return withoutNulls(config);
  const { filter, ...chosen } = examples;
  return withoutNulls({ ...config, examples: { ...chosen, ...withoutNulls(filter ?? {}) } });
}
