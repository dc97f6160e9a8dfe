import type { Changer } from "../../platform/actor.ts";
import { ServiceError } from "../../platform/errors.ts";
import { recordChange } from "../../platform/record-change.ts";
import { doOnce } from "../../platform/storage/do-once.ts";
import { nowMicros } from "../../platform/storage/micros.ts";
import type { Once } from "../../platform/storage/once.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { EvaluationServices } from "../../results/evaluation-services.ts";
import { builtInPrefix } from "../profiles/built-in-profiles.ts";
import { builtInIsFixed, isBuiltInTaxonomy } from "./built-in-revisions.ts";
import {
  insertTaxonomy,
  insertTaxonomyRevision,
  selectTaxonomyId,
  type TaxonomyRevision,
  takeNextTaxonomyRevision,
} from "./error-taxonomies-store.ts";
import { moveLabels } from "./error-taxonomy-labels-store.ts";
import { findRevision } from "./find-revision.ts";

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

/** Adds a revision to a taxonomy, which is created if it is given by name and does not exist. A repeated request gets the revision as it was then. */
export async function createRevision(
  { store }: Pick<EvaluationServices, "store">,
  requester: Changer,
  newRevision: NewRevision,
  once: Once | undefined,
): Promise<TaxonomyRevision> {
  const { accountId } = requester;
  const database = store.writer(requester);
  return await doOnce(database, once, {
    async work(transaction) {
      const made = await appendRevision(transaction, accountId, newRevision);
      await recordChange(transaction, requester, {
        action: "error_taxonomy.add_revision",
        objectId: made.error_taxonomy_id,
        detail: { revision_id: made.id, labels: made.labels },
      });
      return made;
    },
    // Later requests may change these; the rest of a revision never changes.
    toReceipt: ({ id, labels, error_taxonomy_description }) => ({ id, labels, error_taxonomy_description }),
    async recall({ id, ...then }) {
      return { ...(await findRevision(database, accountId, id)), ...then };
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
  if (revision === undefined) throw new ServiceError("not_found", "There is no such error taxonomy.");
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
  return await findRevision(transaction, accountId, id);
}

function refuseBuiltIn(taxonomy: NewRevision["taxonomy"]): void {
  if ("id" in taxonomy) {
    if (isBuiltInTaxonomy(taxonomy.id)) throw builtInIsFixed();
  } else if (taxonomy.name.startsWith(builtInPrefix)) {
    throw new ServiceError(
      "conflict",
      `Names that begin with "${builtInPrefix}" are reserved for built-in taxonomies.`,
    );
  }
}

async function ensureTaxonomy(
  database: Database,
  accountId: string,
  { name, isNewOnly }: NamedTaxonomy,
): Promise<string> {
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
  if (isNewOnly) throw new ServiceError("conflict", "An error taxonomy of this name already exists.");
  return await selectTaxonomyId(database, accountId, name);
}
