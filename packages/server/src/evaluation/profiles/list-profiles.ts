import { type Pieces, refuseLargePage } from "../../storage/read-in-pieces.ts";
import type { Asker } from "../../storage/reader.ts";
import type { EvaluationServices } from "../evaluation-services.ts";
import {
  countRevisions,
  type Page,
  type ProfileRevision,
  type RevisionFilter,
  selectRevisionSizes,
} from "./profiles-store.ts";
import { readRevisions } from "./read-revisions.ts";

export interface ProfileFilter extends RevisionFilter {
  /** Only those that come with Presage, or none of them. */
  isManaged?: boolean | undefined;
}

/** One page of the revisions that pass the filter: the account's, newest first, and then those that come with Presage. */
export async function listProfiles(
  { store, builtInProfiles }: Pick<EvaluationServices, "store" | "builtInProfiles">,
  asker: Asker,
  { isManaged, ...filter }: ProfileFilter,
  { limit, offset }: Page,
): Promise<Pieces<ProfileRevision>> {
  const { accountId } = asker;
  const reader = store.briefReader(asker);
  const builtIn = isManaged === false ? [] : builtInProfiles.filter((revision) => passes(revision, filter));
  if (isManaged) return readRevisions(reader, accountId, [], builtIn.slice(offset, offset + limit));
  const own = await selectRevisionSizes(reader, accountId, filter, { limit, offset });
  refuseLargePage(
    own.map(({ bytes }) => bytes),
    "revisions",
    "Ask for fewer revisions with limit.",
  );
  if (own.length === limit || builtIn.length === 0) return readRevisions(reader, accountId, own);
  const isPastOwn = own.length === 0 && offset > 0;
  const ownCount = isPastOwn ? await countRevisions(reader, accountId, filter) : offset + own.length;
  const start = Math.max(0, offset - ownCount);
  return readRevisions(reader, accountId, own, builtIn.slice(start, start + limit - own.length));
}

/** Each has one revision, which is the last, and none is archived. */
function passes(
  { public_id, evaluator_family, name, revision }: ProfileRevision,
  filter: RevisionFilter,
): boolean {
  return (
    (filter.publicId ?? public_id) === public_id &&
    (filter.family ?? evaluator_family) === evaluator_family &&
    (filter.name ?? name) === name &&
    (filter.revision ?? revision) === revision
  );
}
