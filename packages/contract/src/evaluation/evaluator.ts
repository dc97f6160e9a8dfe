import { z } from "zod";
import { defaultRevisionLimit, pageFields, queryBoolean, queryInteger } from "../query.ts";
import { intervalOf } from "../responses.ts";
import {
  boolean,
  boundedObject,
  boundedText,
  count,
  countOrNull,
  instant,
  maxDescriptionCharacters,
  shortText,
  storableText,
  string,
  stringOrNull,
} from "../text.ts";
import { deprecated } from "./result.ts";
import { IntervalMethod } from "./result-summary.ts";

/** An id of an evaluator family. */
export const Evaluator = z
  .object({
    id: string(
      "The family's name and the version's date, for example exact-match-2026-11-21. An older id runs the newest version.",
    ),
    name: string("Its name in lists."),
    evaluator_family: string("Its family."),
    aliases: z
      .array(z.string())
      .meta({ description: "Other names. The family's name refers to its newest version." }),
    description: string("What it checks."),
    profile_required: boolean("Whether a profile must be named, because the family has no default."),
    default_criteria: stringOrNull("The profile that is used if none is named; null if one must be named."),
    evaluation_enabled: boolean("Whether it can be used in `POST /v1/evaluate`."),
    evaluation_run_enabled: boolean("Whether it can be used in evaluation runs."),
  })
  .meta({ id: "Evaluator" });
export type Evaluator = z.infer<typeof Evaluator>;

/** Query of `GET /v1/evaluators`. */
export const EvaluatorListQuery = z.object({
  by_alias_or_id: storableText().optional().meta({
    description: "Only the evaluator with this id, or the newest with this alias.",
  }),
});

/** Response of `GET /v1/evaluators`. */
export const EvaluatorListResponse = z
  .object({ evaluators: z.array(Evaluator).meta({ description: "Every version of every family, by id." }) })
  .meta({ id: "EvaluatorListResponse" });
export type EvaluatorListResponse = z.infer<typeof EvaluatorListResponse>;

/** A kind of evaluator: the fields it reads and how it can be configured. */
export const EvaluatorFamily = z
  .object({
    family_name: string("The family's name."),
    description: string("What its evaluators check."),
    required_input_fields: z
      .array(z.string())
      .meta({ description: "The fields of an evaluation that its evaluators need." }),
    optional_input_fields: z
      .array(z.string())
      .meta({ description: "The fields of an evaluation that its evaluators also read." }),
    uses_model: boolean("Whether an evaluation calls a model. That costs tokens and may fail."),
    needs_model: boolean(
      "Whether it calls a model and none is configured: every evaluation ends in an error.",
    ),
    profile_config_schema: z
      .record(z.string(), z.unknown())
      .meta({ description: "JSON Schema of a profile's config." }),
  })
  .meta({ id: "EvaluatorFamily" });
export type EvaluatorFamily = z.infer<typeof EvaluatorFamily>;

/** Response of `GET /v1/evaluator-families`. */
export const EvaluatorFamilyListResponse = z
  .object({ evaluator_families: z.array(EvaluatorFamily).meta({ description: "The families." }) })
  .meta({ id: "EvaluatorFamilyListResponse" });
export type EvaluatorFamilyListResponse = z.infer<typeof EvaluatorFamilyListResponse>;

const uuid = z.guid().meta({ format: "uuid" });
const config = z.record(z.string(), z.unknown());
/** Some configs contain JSON Schemas. Every evaluation with a profile reads the whole config. */
const newConfig = boundedObject(1_000_000, "A config");
const described = {
  config: {
    description:
      "The whole config. It must match `profile_config_schema` of the family and may have at most 1,000,000 characters of JSON.",
  },
};

/** The configuration of an evaluator family: one revision of a named profile. */
export const EvaluatorProfile = z
  .object({
    public_id: z.uuid().meta({ description: "The same for every revision of the profile." }),
    evaluator_family: string("The family that the profile configures."),
    name: string("The profile's name, unique in its family."),
    revision: count("Starts at 1."),
    config: config.meta({ description: "Must match the family's schema." }),
    description: stringOrNull("What the profile checks."),
    is_managed: boolean("Whether the profile is built-in and cannot be changed."),
    created_at: instant.meta({ description: "When the revision was created." }),
    archived_at: instant
      .nullable()
      .meta({ description: "When the profile was archived; null if it was not." }),
    evaluator_id: deprecated(z.string(), "evaluator_family"),
    is_patronus_managed: deprecated(z.boolean(), "is_managed"),
  })
  .meta({ id: "EvaluatorProfile" });
export type EvaluatorProfile = z.infer<typeof EvaluatorProfile>;

/** Body of `POST /v1/evaluator-profiles`. */
export const EvaluatorProfileCreateRequest = z
  .object({
    evaluator_family: shortText(200).nullish().meta({ description: "The family's name." }),
    evaluator_id: deprecated(shortText(200).nullish(), "evaluator_family"),
    name: shortText(200).meta({
      description:
        "Unique in its family. Names that begin with `system:` are reserved for built-in profiles.",
    }),
    config: newConfig.meta(described.config),
    description: boundedText(maxDescriptionCharacters)
      .nullish()
      .meta({ description: "What the profile checks." }),
  })
  .refine(({ evaluator_family, evaluator_id }) => (evaluator_family ?? evaluator_id ?? null) !== null, {
    path: ["evaluator_family"],
    // Checked even if other fields have issues, so that the caller gets all issues at once.
    when: ({ value }) => typeof value === "object" && value !== null,
  })
  .meta({ id: "EvaluatorProfileCreateRequest" });
export type EvaluatorProfileCreateRequest = z.infer<typeof EvaluatorProfileCreateRequest>;

/** Body of `POST /v1/evaluator-profiles/{public_id}/revision`: the whole new config. */
export const EvaluatorProfileRevisionRequest = z
  .object({
    evaluator_family: shortText(200)
      .nullish()
      .meta({ description: "If given, it must be the profile's family." }),
    evaluator_id: deprecated(shortText(200).nullish(), "evaluator_family"),
    config: newConfig.meta(described.config),
    description: boundedText(maxDescriptionCharacters)
      .nullish()
      .meta({ description: "What the profile checks. Unchanged if omitted." }),
  })
  .meta({ id: "EvaluatorProfileRevisionRequest" });
export type EvaluatorProfileRevisionRequest = z.infer<typeof EvaluatorProfileRevisionRequest>;

/** Body of `PATCH /v1/evaluator-profiles/{public_id}/archive`, which is optional. */
export const EvaluatorProfileArchiveRequest = z
  .object({
    evaluator_family: shortText(200)
      .nullish()
      .meta({ description: "If given, it must be the profile's family." }),
    evaluator_id: deprecated(shortText(200).nullish(), "evaluator_family"),
  })
  .meta({ id: "EvaluatorProfileArchiveRequest" });

/** Path of `/v1/evaluator-profiles/{public_id}`. */
export const EvaluatorProfilePath = z.object({
  public_id: uuid.meta({
    description: "The profile's id, the same for all its revisions.",
    // The id of the built-in profile system:default of edit-distance.
    examples: ["39a12a5e-b32c-5e0a-909c-e8abb4999690"],
  }),
});

/** Response of creating and revising a profile. */
export const EvaluatorProfileResponse = z
  .object({ evaluator_profile: EvaluatorProfile.meta({ description: "The new revision." }) })
  .meta({ id: "EvaluatorProfileResponse" });
export type EvaluatorProfileResponse = z.infer<typeof EvaluatorProfileResponse>;

/** Query of `GET /v1/evaluator-profiles`. All given filters must match. */
export const EvaluatorProfileListQuery = z.object({
  public_id: uuid.optional().meta({ description: "Only revisions of this profile." }),
  evaluator_family: storableText().optional().meta({ description: "Only profiles of this family." }),
  evaluator_id: deprecated(storableText().optional(), "evaluator_family"),
  name: storableText().optional().meta({ description: "Only profiles of this name." }),
  revision: queryInteger({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
    .optional()
    .meta({ description: "Only revisions of this number." }),
  get_last_revision: queryBoolean()
    .optional()
    .meta({ default: false, description: "Only the latest revision of each profile." }),
  is_managed: queryBoolean()
    .optional()
    .meta({ description: "Only built-in profiles, or only the account's own." }),
  is_patronus_managed: deprecated(queryBoolean().optional(), "is_managed"),
  include_archived: queryBoolean()
    .optional()
    .meta({ default: false, description: "Also archived profiles." }),
  ...pageFields({ default: defaultRevisionLimit }),
});
export type EvaluatorProfileListQuery = z.infer<typeof EvaluatorProfileListQuery>;

/** Response of listing and archiving profiles. */
export const EvaluatorProfileListResponse = z
  .object({ evaluator_profiles: z.array(EvaluatorProfile).meta({ description: "Revisions of profiles." }) })
  .meta({ id: "EvaluatorProfileListResponse" });
export type EvaluatorProfileListResponse = z.infer<typeof EvaluatorProfileListResponse>;

const share = z.number().min(0).max(1);

/** How far people agreed with the verdicts of one revision of a profile. */
export const RevisionAgreement = z
  .object({
    revision: count("The profile's revision."),
    corrected: count("Verdicts that people have corrected or confirmed."),
    agreed: count("Of these, those in which the person agreed with the evaluator."),
    should_fail: count("The evaluator said pass, the person fail."),
    should_pass: count("The evaluator said fail, the person pass."),
    agreement: share.nullable().meta({ description: "agreed / corrected; null if nothing was corrected." }),
    agreement_interval: intervalOf(
      "At 95 %. Null if nothing was corrected, or if everything is in one cluster.",
      share,
    ),
    interval_method: IntervalMethod,
    clusters: countOrNull("The number of clusters of the corrected results if the interval is clustered."),
  })
  .meta({ id: "RevisionAgreement" });
export type RevisionAgreement = z.infer<typeof RevisionAgreement>;

/** Response of `GET /v1/evaluator-profiles/{public_id}/agreement`. If a result has several corrections, the latest counts. */
export const AgreementResponse = z
  .object({
    public_id: z.uuid().meta({ description: "The profile's id." }),
    revisions: z.array(RevisionAgreement).meta({ description: "Every revision, newest first." }),
  })
  .meta({ id: "AgreementResponse" });
export type AgreementResponse = z.infer<typeof AgreementResponse>;

/** Response of creating and revising a profile under `/v1/evaluator-criteria`. */
export const EvaluatorCriteriaResponse = z
  .object({ evaluator_criteria: EvaluatorProfile.meta({ description: "The revision." }) })
  .meta({ id: "EvaluatorCriteriaResponse" });
export type EvaluatorCriteriaResponse = z.infer<typeof EvaluatorCriteriaResponse>;

/** Response of listing and archiving profiles under `/v1/evaluator-criteria`. */
export const EvaluatorCriteriaListResponse = z
  .object({
    evaluator_criteria: z.array(EvaluatorProfile).meta({ description: "The revisions of profiles." }),
  })
  .meta({ id: "EvaluatorCriteriaListResponse" });
export type EvaluatorCriteriaListResponse = z.infer<typeof EvaluatorCriteriaListResponse>;
