import { z } from "zod";
import { list } from "./list.ts";
import { queryBoolean, queryInteger } from "./query.ts";
import { maxTaxonomyLevels } from "./read-taxonomy.ts";
import { boundedObject, boundedText, maxDescriptionCharacters, shortText, storableText } from "./text.ts";

const uuid = z.guid().meta({ format: "uuid" });
const maxLabelsAtOnce = 100;
const newLabels = list(shortText(120)).max(maxLabelsAtOnce);

/** As JSON. Every evaluation against a taxonomy reads the whole of it. */
const maxTreeCharacters = 1_000_000;

const tree = z.union([z.record(z.string(), z.unknown()), z.array(z.unknown())]);

const newTree = tree
  .refine((body) => isWithin(body, maxTaxonomyLevels), {
    error: `A tree has at most ${maxTaxonomyLevels} levels of JSON`,
    abort: true,
  })
  .refine((body) => JSON.stringify(body).length <= maxTreeCharacters, {
    error: `A tree has at most ${maxTreeCharacters} characters of JSON`,
  });

function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((child) => isWithin(child, levels - 1));
}

/** Body of `POST /v1/error-taxonomy-revision`. It names the taxonomy by its id or by its name; the id goes first. */
export const ErrorTaxonomyRevisionCreateRequest = z
  .object({
    error_taxonomy_id: uuid.nullish().meta({ description: "A taxonomy that is there." }),
    error_taxonomy_name: shortText(120)
      .nullish()
      .meta({ description: "Without an id: the taxonomy of this name, which is made if there is none." }),
    error_taxonomy_description: boundedText(maxDescriptionCharacters)
      .nullish()
      .meta({ description: "Describes the taxonomy, all its revisions alike; absent, it stays as it is." }),
    create_only_if_not_exists: z
      .boolean()
      .nullish()
      .meta({ description: "Refuse with 409 if the account has a taxonomy of this name; goes with a name." }),
    body: newTree.meta({
      description: `The tree of categories and errors. It never changes. At most ${maxTreeCharacters} characters and ${maxTaxonomyLevels} levels of JSON.`,
    }),
    metadata: boundedObject(65_536, "Metadata").nullish(),
    labels: newLabels.nullish().meta({ description: "Labels to set on the new revision." }),
  })
  .meta({ id: "ErrorTaxonomyRevisionCreateRequest" });
export type ErrorTaxonomyRevisionCreateRequest = z.infer<typeof ErrorTaxonomyRevisionCreateRequest>;

/** One revision of a taxonomy, as it is now: its labels and the taxonomy's description can change, the rest cannot. */
export const ErrorTaxonomyRevision = z
  .object({
    id: z.uuid(),
    error_taxonomy_id: z.uuid(),
    error_taxonomy_name: z.string(),
    error_taxonomy_description: z.string().nullable(),
    revision: z.int().meta({ description: "Counts up from 1 in each taxonomy." }),
    body: tree,
    metadata: z.record(z.string(), z.unknown()).nullable(),
    labels: z.array(z.string()).meta({ description: "In the order in which they were set." }),
    account_id: z.uuid(),
    created_at: z.iso.datetime({ offset: true }),
  })
  .meta({ id: "ErrorTaxonomyRevision" });
export type ErrorTaxonomyRevision = z.infer<typeof ErrorTaxonomyRevision>;

/** Answer of `POST /v1/error-taxonomy-revision`. */
export const ErrorTaxonomyRevisionCreateResponse = z
  .object({ error_taxonomy_revision: ErrorTaxonomyRevision })
  .meta({ id: "ErrorTaxonomyRevisionCreateResponse" });
export type ErrorTaxonomyRevisionCreateResponse = z.infer<typeof ErrorTaxonomyRevisionCreateResponse>;

/** Query of `GET /v1/error-taxonomy-revision`. A revision is listed if everything that is given fits it. */
export const ErrorTaxonomyRevisionListQuery = z.object({
  error_taxonomy_id: uuid.optional(),
  name: storableText().optional().meta({ description: "The taxonomy's whole name." }),
  label: storableText().optional().meta({ description: "A label that the revision bears." }),
  latest_revision_only: queryBoolean()
    .optional()
    .meta({ description: "Of each taxonomy only the revision with the highest number." }),
  limit: queryInteger({ minimum: 1, maximum: 1000 }).optional().meta({ default: 50 }),
  offset: queryInteger({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }).optional().meta({ default: 0 }),
});
export type ErrorTaxonomyRevisionListQuery = z.infer<typeof ErrorTaxonomyRevisionListQuery>;

export const ErrorTaxonomyRevisionListResponse = z
  .object({ data: z.array(ErrorTaxonomyRevision).meta({ description: "Newest first." }) })
  .meta({ id: "ErrorTaxonomyRevisionListResponse" });
export type ErrorTaxonomyRevisionListResponse = z.infer<typeof ErrorTaxonomyRevisionListResponse>;

/** Path of one revision. */
export const ErrorTaxonomyRevisionPath = z.object({ revision_id: uuid });

/** Body of `POST …/{revision_id}/remove-labels`. Labels that the revision does not bear are passed over. */
export const ErrorTaxonomyRemoveLabelsRequest = z
  .object({
    account_id: uuid.nullish().meta({ description: "The caller's own account, if given." }),
    labels: list(z.string()),
  })
  .meta({ id: "ErrorTaxonomyRemoveLabelsRequest" });
export type ErrorTaxonomyRemoveLabelsRequest = z.infer<typeof ErrorTaxonomyRemoveLabelsRequest>;

/** Body of `POST …/{revision_id}/set-labels`. A label that another revision of the taxonomy bears moves. A revision bears 1,000 at most. */
export const ErrorTaxonomySetLabelsRequest = ErrorTaxonomyRemoveLabelsRequest.extend({
  labels: newLabels,
}).meta({ id: "ErrorTaxonomySetLabelsRequest" });
export type ErrorTaxonomySetLabelsRequest = z.infer<typeof ErrorTaxonomySetLabelsRequest>;

const instant = z.iso.datetime({ offset: true, local: true });

/** Query of `GET …/{revision_id}/findings`. Whole UTC days are counted. */
export const ErrorTaxonomyFindingsQuery = z.object({
  since: instant.optional().meta({ description: "Counted from the UTC day that this falls in." }),
  until: instant.optional().meta({ description: "UTC days that begin then or later are not counted." }),
});
export type ErrorTaxonomyFindingsQuery = z.infer<typeof ErrorTaxonomyFindingsQuery>;

/** A kind of error that evaluations found. */
export const ErrorTaxonomyFinding = z
  .object({
    path: z.array(z.string()).meta({ description: "The names from the root down, the leaf's own the last." }),
    count: z.int().meta({ description: "Evaluations that found it." }),
    last_found_on: z.iso.date().meta({ description: "A UTC day." }),
  })
  .meta({ id: "ErrorTaxonomyFinding" });
export type ErrorTaxonomyFinding = z.infer<typeof ErrorTaxonomyFinding>;

/** Answer of `GET …/{revision_id}/findings`: what the account's evaluations against a revision found. */
export const ErrorTaxonomyFindingsResponse = z
  .object({
    evaluated: z.int().meta({ description: "Evaluations that came to a verdict, with errors or without." }),
    findings: z.array(ErrorTaxonomyFinding).meta({ description: "The leaves found, most often first." }),
  })
  .meta({ id: "ErrorTaxonomyFindingsResponse" });
export type ErrorTaxonomyFindingsResponse = z.infer<typeof ErrorTaxonomyFindingsResponse>;
