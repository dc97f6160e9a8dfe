import { readTaxonomy, type TaxonomyNode } from "@presage/contract/read-taxonomy";
import { type Changer, recordChange } from "../../platform/audit.ts";
import { conflict, notFound } from "../../platform/errors.ts";
import { nowMicros } from "../../platform/storage/columns.ts";
import {
  builtInOfPage,
  idOf,
  type Pieces,
  readListed,
  refuseLargePage,
} from "../../platform/storage/lists.ts";
import { doOnce, type Once } from "../../platform/storage/once.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { builtInPrefix } from "../profiles/profiles.ts";
import { builtInIsFixed, builtInRevisions, isBuiltInRevision, isBuiltInTaxonomy } from "./built-in.ts";
import {
  countTaxonomyRevisions,
  deleteLabels,
  insertTaxonomy,
  insertTaxonomyRevision,
  lockTaxonomyOf,
  moveLabels,
  selectRevisionSizes,
  selectRevisions,
  selectTaxonomyId,
  type TaxonomyRevision,
  type TaxonomyRevisionFilter,
  takeNextTaxonomyRevision,
} from "./taxonomies-store.ts";

export async function getRevision(
  database: Database,
  accountId: string,
  revisionId: string,
): Promise<TaxonomyRevision> {
  const revision = await findFirst(database, accountId, { revisionId });
  if (revision === undefined) throw notFound("revision of an error taxonomy");
  return revision;
}

/** The revision of a named taxonomy that has a label. */
export async function findLabelledRevision(
  database: Database,
  accountId: string,
  taxonomyName: string,
  label: string,
): Promise<TaxonomyRevision | undefined> {
  return await findFirst(database, accountId, { taxonomyName, label });
}

async function findFirst(
  database: Database,
  accountId: string,
  filter: Omit<TaxonomyRevisionFilter, "limit" | "offset">,
): Promise<TaxonomyRevision | undefined> {
  const [own] = await selectRevisionSizes(database, accountId, { ...filter, limit: 1, offset: 0 });
  if (own === undefined) return builtInRevisions(accountId, filter)[0];
  return (await selectRevisions(database, accountId, [own.id]))[0];
}

/** Adds labels to a revision. Labels of another revision of its taxonomy move. */
export async function setLabels(
  { store }: { store: Store },
  requester: Changer,
  revisionId: string,
  labels: readonly string[],
): Promise<TaxonomyRevision> {
  if (isBuiltInRevision(revisionId)) throw builtInIsFixed();
  return await changeLabels(
    store.writer(requester),
    requester,
    { revisionId, labels, action: "error_taxonomy.set_labels" },
    (transaction, taxonomyId) => moveLabels(transaction, taxonomyId, revisionId, labels),
  );
}

/** Removes labels from a revision; labels that it lacks are ignored. */
export async function removeLabels(
  { store }: { store: Store },
  requester: Changer,
  revisionId: string,
  labels: readonly string[],
): Promise<TaxonomyRevision> {
  const [builtIn] = builtInRevisions(requester.accountId, { revisionId });
  if (builtIn !== undefined) {
    if (labels.some((label) => builtIn.labels.includes(label))) throw builtInIsFixed();
    return builtIn;
  }
  return await changeLabels(
    store.writer(requester),
    requester,
    { revisionId, labels, action: "error_taxonomy.remove_labels" },
    (transaction) => deleteLabels(transaction, revisionId, labels),
  );
}

interface LabelChange {
  revisionId: string;
  labels: readonly string[];
  action: "error_taxonomy.set_labels" | "error_taxonomy.remove_labels";
}

/** Changes a revision's labels with its taxonomy locked, and returns the changed revision. */
async function changeLabels(
  database: Database,
  changer: Changer,
  { revisionId, labels, action }: LabelChange,
  change: (transaction: Database, taxonomyId: string) => Promise<boolean>,
): Promise<TaxonomyRevision> {
  const { accountId } = changer;
  return await database.transaction().execute(async (transaction) => {
    const taxonomyId = await lockTaxonomyOf(transaction, accountId, revisionId);
    if (taxonomyId === undefined) throw notFound("revision of an error taxonomy");
    const detail = { revision_id: revisionId, labels };
    if (await change(transaction, taxonomyId))
      await recordChange(transaction, changer, action, taxonomyId, detail);
    return await getRevision(transaction, accountId, revisionId);
  });
}

export interface NewRevision {
  taxonomy: { id: string } | NamedTaxonomy;
  /** Replaces the taxonomy's description if given. */
  description: string | undefined;
  body: object;
  metadata: object | undefined;
  labels: readonly string[];
}

export interface NamedTaxonomy {
  name: string;
  /** Whether a name that the account already has is an error. */
  isNewOnly: boolean;
}

/** Adds a revision to a taxonomy, which is created if it is given by name and does not exist. A repeated request gets the revision in its state at that time. */
export async function createRevision(
  { store }: { store: Store },
  requester: Changer,
  newRevision: NewRevision,
  once: Once | undefined,
): Promise<TaxonomyRevision> {
  const { accountId } = requester;
  const database = store.writer(requester);
  return await doOnce(database, once, {
    async work(transaction) {
      const made = await appendRevision(transaction, accountId, newRevision);
      await recordChange(transaction, requester, "error_taxonomy.add_revision", made.error_taxonomy_id, {
        revision_id: made.id,
        labels: made.labels,
      });
      return made;
    },
    // Later requests may change these; the rest of a revision never changes.
    toReceipt: ({ id, labels, error_taxonomy_description }) => ({ id, labels, error_taxonomy_description }),
    async recall({ id, ...then }) {
      return { ...(await getRevision(database, accountId, id)), ...then };
    },
  });
}

async function appendRevision(
  transaction: Database,
  accountId: string,
  { taxonomy, description, body, metadata, labels }: NewRevision,
): Promise<TaxonomyRevision> {
  refuseBuiltIn(taxonomy);
  const taxonomyId = "id" in taxonomy ? taxonomy.id : await ensureTaxonomy(transaction, accountId, taxonomy);
  const revision = await takeNextTaxonomyRevision(transaction, accountId, taxonomyId, description);
  if (revision === undefined) throw notFound("error taxonomy");
  const id = Bun.randomUUIDv7();
  await insertTaxonomyRevision(transaction, {
    id,
    taxonomy_id: taxonomyId,
    account_id: accountId,
    revision,
    body: JSON.stringify(body),
    metadata: metadata === undefined ? null : JSON.stringify(metadata),
    created_at: nowMicros(),
  });
  await moveLabels(transaction, taxonomyId, id, labels);
  return await getRevision(transaction, accountId, id);
}

function refuseBuiltIn(taxonomy: NewRevision["taxonomy"]): void {
  if ("id" in taxonomy) {
    if (isBuiltInTaxonomy(taxonomy.id)) throw builtInIsFixed();
  } else if (taxonomy.name.startsWith(builtInPrefix)) {
    throw conflict(`Names that begin with "${builtInPrefix}" are reserved for built-in taxonomies.`);
  }
}

async function ensureTaxonomy(database: Database, accountId: string, { name, isNewOnly }: NamedTaxonomy) {
  const id = Bun.randomUUIDv7();
  const isNew = await insertTaxonomy(database, {
    id,
    account_id: accountId,
    name,
    description: null,
    last_revision: 0,
    created_at: nowMicros(),
  });
  if (isNew) return id;
  if (isNewOnly) throw conflict("An error taxonomy of this name already exists.");
  return await selectTaxonomyId(database, accountId, name);
}

/** A kind of error: a leaf of a taxonomy's tree. */
export interface TaxonomyLeaf {
  /** The names from the root down to the leaf's own. */
  path: string[];
  description?: string;
}

/** The first `maxLeaves` leaves of a body's tree. */
export function flattenTaxonomy(body: unknown, maxLeaves: number): TaxonomyLeaf[] {
  return [...leavesOf(readTaxonomy(body), []).take(maxLeaves)];
}

function* leavesOf(nodes: readonly TaxonomyNode[], above: readonly string[]): Generator<TaxonomyLeaf> {
  for (const { name, description, children } of nodes) {
    const path = [...above, name];
    if (children.length > 0) yield* leavesOf(children, path);
    else yield { path, ...(description !== "" && { description }) };
  }
}

/** The revisions that an account sees: its own, newest first, then the built-in ones. */
export async function listRevisions(
  { store }: { store: Store },
  requester: Requester,
  filter: TaxonomyRevisionFilter,
): Promise<Pieces<TaxonomyRevision>> {
  const { accountId } = requester;
  const reader = store.briefReader(requester);
  const own = await selectRevisionSizes(reader, accountId, filter);
  refuseLargePage(own, "revisions");
  const builtIn = await builtInOfPage(builtInRevisions(accountId, filter), own.length, filter, () =>
    countTaxonomyRevisions(reader, accountId, filter),
  );
  return readListed(own, idOf, (some) => selectRevisions(reader, accountId, some.map(idOf)), builtIn);
}
