import { z } from "zod";
import { list } from "../custom-schemas.ts";
import { defaultRevisionLimit, pageFields, queryBoolean } from "../query.ts";
import {
  boundedObject,
  boundedText,
  count,
  dateTime,
  instant,
  maxDescriptionCharacters,
  shortText,
  storableText,
  string,
  stringOrNull,
} from "../text.ts";
import { maxTaxonomyLevels } from "./read-taxonomy.ts";

const uuid = z.guid().meta({ format: "uuid" });
const maxLabelsAtOnce = 100;
const newLabels = list(shortText(120)).max(maxLabelsAtOnce);

/** The limit of a tree as JSON, all of which every evaluation against the taxonomy reads. */
const maxTreeCharacters = 1_000_000;

const tree = z.union([z.record(z.string(), z.unknown()), z.array(z.unknown())]);

const newTree = tree
  .refine((body) => isWithin(body, maxTaxonomyLevels), {
    error: `A tree may have at most ${maxTaxonomyLevels} levels of JSON`,
    abort: true,
  })
  .refine((body) => JSON.stringify(body).length <= maxTreeCharacters, {
    error: `A tree may have at most ${maxTreeCharacters} characters of JSON`,
  });

function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((child) => isWithin(child, levels - 1));
}

/** Body of `POST /v1/error-taxonomy-revision`. It names the taxonomy by id or by name; the id takes precedence. */
export const ErrorTaxonomyRevisionCreateRequest = z
  .object({
    error_taxonomy_id: uuid.nullish().meta({ description: "An existing taxonomy." }),
    error_taxonomy_name: shortText(120)
      .nullish()
      .meta({ description: "Used if there is no id. The taxonomy is created if none has this name." }),
    error_taxonomy_description: boundedText(maxDescriptionCharacters)
      .nullish()
      .meta({ description: "Describes the taxonomy, not only this revision. Unchanged if omitted." }),
    create_only_if_not_exists: z.boolean().nullish().meta({
      description: "Refuse with 409 if the account already has a taxonomy of this name. Requires a name.",
    }),
    body: newTree.meta({
      description: `The tree of categories and errors. It cannot be changed later. At most ${maxTreeCharacters} characters and ${maxTaxonomyLevels} levels of JSON.`,
    }),
    metadata: boundedObject(65_536, "Metadata")
      .nullish()
      .meta({ description: "Notes on the revision, as any JSON object. At most 65,536 characters of JSON." }),
    labels: newLabels.nullish().meta({ description: "Labels to set on the new revision." }),
  })
  .meta({ id: "ErrorTaxonomyRevisionCreateRequest" });
export type ErrorTaxonomyRevisionCreateRequest = z.infer<typeof ErrorTaxonomyRevisionCreateRequest>;

/** One revision of a taxonomy. Its labels and the taxonomy's description can change; the rest cannot. */
export const ErrorTaxonomyRevision = z
  .object({
    id: z.uuid().meta({ description: "The revision's id." }),
    error_taxonomy_id: z.uuid().meta({ description: "The taxonomy's id, the same for all its revisions." }),
    error_taxonomy_name: string("The taxonomy's name."),
    error_taxonomy_description: stringOrNull("What the taxonomy is for."),
    revision: count("Starts at 1 in each taxonomy."),
    body: tree.meta({ description: "The tree of categories and errors." }),
    metadata: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: "Notes on the revision, as given." }),
    labels: z.array(z.string()).meta({ description: "In the order in which they were set." }),
    account_id: z.uuid().meta({ description: "The account that the revision belongs to." }),
    created_at: instant.meta({ description: "When the revision was created." }),
  })
  .meta({ id: "ErrorTaxonomyRevision" });
export type ErrorTaxonomyRevision = z.infer<typeof ErrorTaxonomyRevision>;

/** Response of `POST /v1/error-taxonomy-revision`. */
export const ErrorTaxonomyRevisionCreateResponse = z
  .object({
    error_taxonomy_revision: ErrorTaxonomyRevision.meta({ description: "The new revision." }),
  })
  .meta({ id: "ErrorTaxonomyRevisionCreateResponse" });
export type ErrorTaxonomyRevisionCreateResponse = z.infer<typeof ErrorTaxonomyRevisionCreateResponse>;

/** Query of `GET /v1/error-taxonomy-revision`. All given filters must match. */
export const ErrorTaxonomyRevisionListQuery = z.object({
  error_taxonomy_id: uuid.optional().meta({ description: "Only revisions of this taxonomy." }),
  name: storableText().optional().meta({ description: "The taxonomy's exact name." }),
  label: storableText().optional().meta({ description: "A label of the revision." }),
  latest_revision_only: queryBoolean()
    .optional()
    .meta({ description: "Only the latest revision of each taxonomy." }),
  ...pageFields({ default: defaultRevisionLimit }),
});
export type ErrorTaxonomyRevisionListQuery = z.infer<typeof ErrorTaxonomyRevisionListQuery>;

/** Response of `GET /v1/error-taxonomy-revision`. */
export const ErrorTaxonomyRevisionListResponse = z
  .object({ data: z.array(ErrorTaxonomyRevision).meta({ description: "Newest first." }) })
  .meta({ id: "ErrorTaxonomyRevisionListResponse" });
export type ErrorTaxonomyRevisionListResponse = z.infer<typeof ErrorTaxonomyRevisionListResponse>;

/** Path parameters of one revision. */
export const ErrorTaxonomyRevisionPath = z.object({
  revision_id: uuid.meta({
    description: "The revision's id, not its number.",
    // The id of the built-in taxonomy system:world-model-errors.
    examples: ["753280ef-18e4-5a19-9f64-604714cd62b1"],
  }),
});

/** Body of `POST …/{revision_id}/remove-labels`. Labels that the revision lacks are ignored. */
export const ErrorTaxonomyRemoveLabelsRequest = z
  .object({
    account_id: uuid.nullish().meta({ description: "If given, it must be the caller's account." }),
    labels: list(z.string()).meta({ description: "Labels to remove." }),
  })
  .meta({ id: "ErrorTaxonomyRemoveLabelsRequest" });

/** Body of `POST …/{revision_id}/set-labels`. A label of another revision of the taxonomy moves to this one. A revision has at most 1,000 labels. */
export const ErrorTaxonomySetLabelsRequest = ErrorTaxonomyRemoveLabelsRequest.extend({
  labels: newLabels.meta({ description: "Labels to set." }),
}).meta({ id: "ErrorTaxonomySetLabelsRequest" });

/** Query of `GET …/{revision_id}/findings`. Whole UTC days are counted. */
export const ErrorTaxonomyFindingsQuery = z.object({
  since: dateTime().optional().meta({ description: "Counts from the start of this time's UTC day." }),
  until: dateTime().optional().meta({ description: "Counts only UTC days that start before this time." }),
});
export type ErrorTaxonomyFindingsQuery = z.infer<typeof ErrorTaxonomyFindingsQuery>;

/** A kind of error that evaluations found. */
export const ErrorTaxonomyFinding = z
  .object({
    path: z.array(z.string()).meta({ description: "The names from the root to the leaf." }),
    count: count("Evaluations that found it."),
    last_found_on: z.iso.date().meta({ description: "A UTC day." }),
  })
  .meta({ id: "ErrorTaxonomyFinding" });
export type ErrorTaxonomyFinding = z.infer<typeof ErrorTaxonomyFinding>;

/** Response of `GET …/{revision_id}/findings`: the errors that the account's evaluations against a revision found. */
export const ErrorTaxonomyFindingsResponse = z
  .object({
    evaluated: count("Evaluations with a verdict, whether or not they found errors."),
    findings: z.array(ErrorTaxonomyFinding).meta({ description: "The errors found, most frequent first." }),
  })
  .meta({ id: "ErrorTaxonomyFindingsResponse" });
export type ErrorTaxonomyFindingsResponse = z.infer<typeof ErrorTaxonomyFindingsResponse>;

const modelName = stringOrNull(
  "The model that wrote the evaluated outputs, as the results name it, or the world as `name@revision`. Null if neither is known.",
);

const baselineName = z.enum(["no-change", "most-frequent", "retrieval"]).nullable().meta({
  description: "The rule that wrote the outputs in place of a model. Null: a model did, or it is unknown.",
});

const findingCounts = z
  .array(
    z.object({
      path: z.array(z.string()).meta({ description: "The names from the root to the leaf." }),
      count: count("Evaluations that found it."),
    }),
  )
  .meta({ description: "The errors found, most frequent first." });

/** Response of `GET …/{revision_id}/recent-findings`: what the newest evaluations against a revision found, by model and run, with examples. */
export const RecentErrorFindingsResponse = z
  .object({
    considered: count("How many of the newest verdicts of error taxonomies were looked at, at most 2,000."),
    evaluated: count("How many of them are of this revision."),
    models: z
      .array(
        z
          .object({
            model: modelName,
            baseline: z.enum(["no-change", "most-frequent", "retrieval"]).nullable().meta({
              description:
                "The rule that wrote them instead of a model. Null: a model did, or it is unknown.",
            }),
            evaluated: count("Evaluations of its outputs."),
            findings: findingCounts,
          })
          .meta({ id: "ErrorFindingsOfModel" }),
      )
      .meta({ description: "Those with the most evaluations first, baselines last." }),
    runs: z
      .array(
        z
          .object({
            evaluation_run_id: stringOrNull("As the results name it. Null for results that name no run."),
            name: stringOrNull("The run's name if it is one of the account's, otherwise null."),
            evaluated: count("Evaluations of its outputs."),
            findings: findingCounts,
          })
          .meta({ id: "ErrorFindingsOfRun" }),
      )
      .meta({ description: "Those with the newest evaluations first, at most 50." }),
    examples: z
      .array(
        z
          .object({
            path: z.array(z.string()).meta({ description: "The names from the root to the leaf." }),
            results: z
              .array(
                z.object({
                  id: string("The result's id."),
                  created_at: instant.meta({ description: "When the result was stored." }),
                  model: modelName,
                  baseline: baselineName,
                  reason: stringOrNull("What the judge says about this error."),
                }),
              )
              .meta({ description: "The newest three." }),
          })
          .meta({ id: "ErrorExamples" }),
      )
      .meta({ description: "By kind of error." }),
  })
  .meta({ id: "RecentErrorFindingsResponse" });
export type RecentErrorFindingsResponse = z.infer<typeof RecentErrorFindingsResponse>;
