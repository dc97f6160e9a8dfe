import { z } from "zod";
import { deprecated } from "./evaluation-result.ts";
import { queryBoolean, queryInteger } from "./query.ts";
import { boundedObject, boundedText, maxDescriptionCharacters, shortText, storableText } from "./text.ts";

const uuid = z.guid().meta({ format: "uuid" });
const instant = z.iso.datetime({ offset: true });
const config = z.record(z.string(), z.unknown());
/** Some are JSON Schemas. Every evaluation with a profile reads the whole of it. */
const newConfig = boundedObject(1_000_000, "A config");

/** How a family of evaluators is set up: one revision of a named profile. */
export const EvaluatorProfile = z
  .object({
    public_id: z.uuid().meta({ description: "The same for every revision of the profile." }),
    evaluator_family: z.string(),
    name: z.string(),
    revision: z.int().meta({ description: "Counts up from 1." }),
    config: config.meta({ description: "As the family's schema has it." }),
    description: z.string().nullable(),
    is_managed: z.boolean().meta({ description: "Whether it comes with Presage and cannot be changed." }),
    created_at: instant,
    archived_at: instant.nullable(),
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
    name: shortText(200),
    config: newConfig,
    description: boundedText(maxDescriptionCharacters).nullish(),
  })
  .refine(({ evaluator_family, evaluator_id }) => (evaluator_family ?? evaluator_id ?? null) !== null, {
    path: ["evaluator_family"],
    // Also beside other faults: a caller hears of all of them at once.
    when: ({ value }) => typeof value === "object" && value !== null,
  })
  .meta({ id: "EvaluatorProfileCreateRequest" });
export type EvaluatorProfileCreateRequest = z.infer<typeof EvaluatorProfileCreateRequest>;

/** Body of `POST /v1/evaluator-profiles/{public_id}/revision`: the whole new config. */
export const EvaluatorProfileRevisionRequest = z
  .object({
    evaluator_family: shortText(200).nullish().meta({ description: "The profile's own, if given." }),
    evaluator_id: deprecated(shortText(200).nullish(), "evaluator_family"),
    config: newConfig,
    description: boundedText(maxDescriptionCharacters).nullish().meta({ description: "Absent: as it was." }),
  })
  .meta({ id: "EvaluatorProfileRevisionRequest" });
export type EvaluatorProfileRevisionRequest = z.infer<typeof EvaluatorProfileRevisionRequest>;

/** Body of `PATCH /v1/evaluator-profiles/{public_id}/archive`, if there is one. */
export const EvaluatorProfileArchiveRequest = z
  .object({
    evaluator_family: shortText(200).nullish().meta({ description: "The profile's own, if given." }),
    evaluator_id: deprecated(shortText(200).nullish(), "evaluator_family"),
  })
  .meta({ id: "EvaluatorProfileArchiveRequest" });
export type EvaluatorProfileArchiveRequest = z.infer<typeof EvaluatorProfileArchiveRequest>;

export const EvaluatorProfilePath = z.object({ public_id: uuid });

export const EvaluatorProfileResponse = z
  .object({ evaluator_profile: EvaluatorProfile })
  .meta({ id: "EvaluatorProfileResponse" });
export type EvaluatorProfileResponse = z.infer<typeof EvaluatorProfileResponse>;

/** Query of `GET /v1/evaluator-profiles`. A revision is listed if everything that is given fits it. */
export const EvaluatorProfileListQuery = z.object({
  public_id: uuid.optional(),
  evaluator_family: storableText().optional(),
  evaluator_id: deprecated(storableText().optional(), "evaluator_family"),
  name: storableText().optional(),
  revision: queryInteger({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }).optional(),
  get_last_revision: queryBoolean()
    .optional()
    .meta({ default: false, description: "Of each profile only its last revision." }),
  is_managed: queryBoolean().optional(),
  is_patronus_managed: deprecated(queryBoolean().optional(), "is_managed"),
  include_archived: queryBoolean().optional().meta({ default: false }),
  limit: queryInteger({ minimum: 1, maximum: 1000 }).optional().meta({ default: 50 }),
  offset: queryInteger({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }).optional().meta({ default: 0 }),
});
export type EvaluatorProfileListQuery = z.infer<typeof EvaluatorProfileListQuery>;

export const EvaluatorProfileListResponse = z
  .object({ evaluator_profiles: z.array(EvaluatorProfile) })
  .meta({ id: "EvaluatorProfileListResponse" });
export type EvaluatorProfileListResponse = z.infer<typeof EvaluatorProfileListResponse>;

const share = z.number().min(0).max(1);

/** How far people agreed with what one revision of a profile said. */
export const RevisionAgreement = z
  .object({
    revision: z.int(),
    corrected: z.int().meta({ description: "Verdicts that people have corrected or confirmed." }),
    agreed: z.int().meta({ description: "Of these, where the person said the same as the evaluator." }),
    should_fail: z.int().meta({ description: "The evaluator passed what the person did not." }),
    should_pass: z.int().meta({ description: "The person passed what the evaluator did not." }),
    agreement: share.nullable().meta({ description: "The share that agreed; null where nothing was said." }),
    agreement_interval: z
      .object({ level: z.number(), lower: share, upper: share })
      .nullable()
      .meta({ description: "Wilson's, at 95 %." }),
  })
  .meta({ id: "RevisionAgreement" });
export type RevisionAgreement = z.infer<typeof RevisionAgreement>;

/** Answer of `GET /v1/evaluator-profiles/{public_id}/agreement`. Of several corrections of a result the latest counts. */
export const AgreementResponse = z
  .object({
    public_id: z.uuid(),
    revisions: z.array(RevisionAgreement).meta({ description: "Every revision, the newest first." }),
  })
  .meta({ id: "AgreementResponse" });
export type AgreementResponse = z.infer<typeof AgreementResponse>;
