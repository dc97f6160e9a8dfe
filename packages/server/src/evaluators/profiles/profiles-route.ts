import {
  AgreementResponse,
  DisagreementListResponse,
  DisagreementQuery,
  defaultDisagreements,
  defaultRevisionLimit,
  EvaluatorCriteriaListResponse,
  EvaluatorCriteriaResponse,
  type EvaluatorProfile,
  EvaluatorProfileArchiveRequest,
  EvaluatorProfileCreateRequest,
  EvaluatorProfileListQuery,
  EvaluatorProfileListResponse,
  EvaluatorProfilePath,
  EvaluatorProfileResponse,
  EvaluatorProfileRevisionRequest,
  isTrueWord,
  type ValidationError,
} from "@presage/contract";
import { z } from "zod";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import type { Services } from "../../app/services.ts";
import { type Call, type CallWithCaller, requesterOf } from "../../http/call.ts";
import {
  body,
  errorResponse,
  idempotencyHeader,
  noSuch,
  operation,
  operationWithOldNames,
  optionalBody,
  pageTooLarge,
  query,
  response,
} from "../../http/describe.ts";
import {
  parseJson,
  readBody,
  readExactBody,
  readOnce,
  readPage,
  readPath,
  readQuery,
} from "../../http/request.ts";
import { streamList } from "../../http/response.ts";
import { type Route, withCaller } from "../../http/route.ts";
import { InvalidRequestError, nameNarrowType, toIssues, valueError } from "../../http/validate.ts";
import { ServiceError } from "../../platform/errors.ts";
import { toIsoInstant } from "../../platform/storage/columns.ts";
import type { Pieces } from "../../platform/storage/lists.ts";
import {
  type CorrectedResult,
  listDisagreements,
  measureAgreement,
  type RevisionAgreement,
} from "../../results/agreement.ts";
import type { Family } from "../family.ts";
import {
  type FamilyFields,
  type ProfileNaming,
  profileNamings,
  readFamily,
  readIsManaged,
  withOldProfileNames,
} from "../old-names.ts";
import { type Registry, ruleFamilies } from "../registry.ts";
import type { RuleRunner } from "../rules/run-rule.ts";
import { builtInPrefix, findOwnProfile, listProfiles, type ProfileFilter } from "./find-profile.ts";
import { archiveProfile, type CheckedConfig, checkConfig, createProfile, reviseProfile } from "./profiles.ts";
import type { ProfileRevision } from "./profiles-store.ts";

/** A revision of a profile in a response, under new names and old. */
function toEvaluatorProfile({ config, created_at, archived_at, ...rest }: ProfileRevision): EvaluatorProfile {
  return withOldProfileNames({
    ...rest,
    // Checked before it was stored.
    config: parseJson(config) as EvaluatorProfile["config"],
    created_at: toIsoInstant(created_at),
    archived_at: archived_at === null ? null : toIsoInstant(archived_at),
  });
}

/** The same as JSON. The config is stored as JSON and is neither parsed nor written again. */
function evaluatorProfileJson(revision: ProfileRevision): string {
  const { config: _, ...rest } = toEvaluatorProfile({ ...revision, config: "{}" });
  return `${JSON.stringify(rest).slice(0, -1)},"config":${revision.config}}`;
}

type ProfileServices = { registry: Registry; rules: RuleRunner };

/** Checks what the schema of a new profile cannot: that its family exists and accepts the config, and that the name is allowed. */
async function readNewConfig(
  services: ProfileServices,
  call: CallWithCaller,
  body: EvaluatorProfileCreateRequest,
): Promise<CheckedConfig> {
  const named = readFamily(body);
  const family = named && services.registry.find(named.name)?.family;
  const config = family === undefined ? [] : await readConfig(services, call, family, body);
  return accept(config, [
    ...(family === undefined
      ? [
          valueError(
            ["body", named?.field ?? "evaluator_family"],
            "There is no such family",
            named?.name ?? "",
          ),
        ]
      : []),
    ...(body.name.startsWith(builtInPrefix)
      ? [valueError(["body", "name"], `Names that start with ${builtInPrefix} are reserved`, body.name)]
      : []),
  ]);
}

/** Checks what the schema of a revision cannot: that the profile's family accepts the config, and that no other family is named. */
async function readRevisedConfig(
  services: ProfileServices,
  call: CallWithCaller,
  body: EvaluatorProfileRevisionRequest,
  familyName: string,
): Promise<CheckedConfig> {
  const family = services.registry.find(familyName)?.family;
  if (family === undefined) {
    throw new ServiceError("conflict", `This version of Presage no longer has the family ${familyName}.`);
  }
  return accept(
    await readConfig(services, call, family, body),
    issuesOfOtherFamily(services.registry, body, familyName),
  );
}

/** Checks what the schema of a request about a profile cannot: that it names no family but the profile's. */
function refuseOtherFamily(registry: Registry, body: FamilyFields, familyName: string): void {
  const issues = issuesOfOtherFamily(registry, body, familyName);
  if (issues.length > 0) throw new InvalidRequestError(issues);
}

function issuesOfOtherFamily(registry: Registry, body: FamilyFields, familyName: string): ValidationError[] {
  const named = readFamily(body);
  if (named === undefined || (registry.find(named.name)?.family.name ?? named.name) === familyName) return [];
  return [valueError(["body", named.field], `The profile belongs to the family ${familyName}`, named.name)];
}

function accept(config: CheckedConfig | ValidationError[], issues: ValidationError[]): CheckedConfig {
  if (Array.isArray(config)) throw new InvalidRequestError([...issues, ...config]);
  if (issues.length > 0) throw new InvalidRequestError(issues);
  return config;
}

async function readConfig(
  { rules }: ProfileServices,
  call: CallWithCaller,
  family: Family,
  body: { config: Record<string, unknown> },
): Promise<CheckedConfig | ValidationError[]> {
  const config = await checkConfig(family, body.config, nameNarrowType, (task) =>
    rules.check(task, requesterOf(call)),
  );
  if (!("issues" in config)) return config;
  const issues = config.issues.map((issue) => ({ ...issue, path: ["config", ...issue.path] }));
  return toIssues(issues, body, "body");
}

const optionalArchiveRequest = EvaluatorProfileArchiveRequest.optional();

export function evaluatorProfileRoutes(services: Services): Route[] {
  return profileNamings.flatMap((naming) => routesUnder(naming, services));
}

function routesUnder({ path, one, many }: ProfileNaming, services: Services): Route[] {
  const maxBodyBytes = services.settings.maxShortBodyBytes;

  function respondWithList(call: Call, revisions: Pieces<ProfileRevision>): Promise<Response> {
    return streamList(services, call, many, revisions, evaluatorProfileJson);
  }

  function toResponse(revision: ProfileRevision): Response {
    return Response.json({ [one]: toEvaluatorProfile(revision) }, { status: 201 });
  }

  return [
    withCaller("GET", path, "read", async (call) => {
      const query = readQuery(call, EvaluatorProfileListQuery);
      const filter = toFilter(query, services.evaluation.registry);
      const page = readPage(query, defaultRevisionLimit);
      return await respondWithList(
        call,
        await listProfiles(services.evaluation, requesterOf(call), filter, page),
      );
    }),
    withCaller("POST", path, "evaluate", async (call) => {
      const body = await readExactBody(call, EvaluatorProfileCreateRequest, maxBodyBytes);
      const newProfile = {
        config: await readNewConfig(services.evaluation, call, body),
        name: body.name,
        description: body.description ?? undefined,
      };
      const once = readOnce(call, "create profile", body);
      return toResponse(await createProfile(services.evaluation, requesterOf(call), newProfile, once));
    }),
    withCaller("PATCH", `${path}/:public_id/archive`, "evaluate", async (call) => {
      const body = await readBody(call, optionalArchiveRequest, maxBodyBytes);
      const publicId = publicIdOf(call);
      const { evaluator_family } = await findOwnProfile(services.evaluation, call.caller.accountId, publicId);
      refuseOtherFamily(services.evaluation.registry, body ?? {}, evaluator_family);
      return await respondWithList(
        call,
        await archiveProfile(services.evaluation, requesterOf(call), publicId),
      );
    }),
    withCaller("POST", `${path}/:public_id/revision`, "evaluate", async (call) => {
      const body = await readExactBody(call, EvaluatorProfileRevisionRequest, maxBodyBytes);
      const publicId = publicIdOf(call);
      const { evaluator_family } = await findOwnProfile(services.evaluation, call.caller.accountId, publicId);
      const revision = {
        publicId,
        config: await readRevisedConfig(services.evaluation, call, body, evaluator_family),
        description: body.description ?? undefined,
      };
      const once = readOnce(call, "revise profile", body);
      return toResponse(await reviseProfile(services.evaluation, requesterOf(call), revision, once));
    }),
    withCaller("GET", `${path}/:public_id/agreement`, "read", async (call) => {
      const publicId = publicIdOf(call);
      const revisions = await measureAgreement(services.evaluation, requesterOf(call), publicId);
      return Response.json(toAgreementResponse(publicId, revisions));
    }),
    withCaller("GET", `${path}/:public_id/disagreements`, "read", async (call) => {
      const limit = Number(readQuery(call, DisagreementQuery).limit ?? defaultDisagreements);
      const found = await listDisagreements(services.evaluation, requesterOf(call), publicIdOf(call), limit);
      const response: DisagreementListResponse = { data: found.map(toDisagreement) };
      return Response.json(response);
    }),
  ];
}

function publicIdOf(call: CallWithCaller): string {
  return readPath(call, EvaluatorProfilePath).public_id.toLowerCase();
}

function toFilter(query: EvaluatorProfileListQuery, registry: Registry): ProfileFilter {
  const named = readFamily(query)?.name;
  const builtIn = readIsManaged(query);
  return {
    publicId: query.public_id?.toLowerCase(),
    family: named === undefined ? undefined : (registry.find(named)?.family.name ?? named),
    name: query.name,
    revision: query.revision === undefined ? undefined : Number(query.revision),
    isLastOnly: isTrueWord(query.get_last_revision ?? "false"),
    isBuiltIn: builtIn === undefined ? undefined : isTrueWord(builtIn),
    isArchivedToo: isTrueWord(query.include_archived ?? "false"),
  };
}

function toDisagreement({
  id,
  evaluatorId,
  profile,
  outcome,
  correction,
  createdAt,
  sample,
}: CorrectedResult) {
  return {
    result_id: String(id),
    evaluator_id: evaluatorId,
    revision: profile?.revision ?? null,
    pass: outcome.pass === true,
    score_raw: outcome.score ?? null,
    created_at: toIsoInstant(createdAt),
    correction: {
      pass: correction.pass,
      score_raw: correction.score ?? null,
      comment: correction.comment ?? null,
      created_at: toIsoInstant(correction.createdAt),
    },
    output: sample.output ?? null,
  };
}

function toAgreementResponse(publicId: string, revisions: readonly RevisionAgreement[]): AgreementResponse {
  return {
    public_id: publicId,
    revisions: revisions.map(({ shouldFail, shouldPass, agreementInterval, intervalMethod, ...rest }) => ({
      ...rest,
      should_fail: shouldFail,
      should_pass: shouldPass,
      agreement_interval: agreementInterval,
      interval_method: intervalMethod,
    })),
  };
}

const tag = "evaluator profiles";
const profileNotFound = noSuch("profile", "evaluator profile");
const exampleProfile: EvaluatorProfile = {
  public_id: "01a2015d-186e-7532-bc58-42568ddb915f",
  evaluator_family: "contains",
  name: "opens-the-door",
  revision: 1,
  config: { substrings: ["door", "open"], mode: "all" },
  description: "The output says that the door opens.",
  is_managed: false,
  created_at: "2026-11-22T03:46:48.046Z",
  archived_at: null,
  evaluator_id: "contains",
  is_patronus_managed: false,
};
const exampleRevision: EvaluatorProfile = {
  ...exampleProfile,
  revision: 2,
  config: { substrings: ["door", "opens"], mode: "all" },
  created_at: "2026-11-22T09:12:05.310Z",
};
const archived_at = "2026-11-23T16:40:11.902Z";
const requestParams = { path: EvaluatorProfilePath };

/** A schema with an id would become a reference to a place that the document does not have. */
const withoutIds = z.registry<{ description?: string | undefined }>();
withoutIds.get = (schema) => ({ description: z.globalRegistry.get(schema)?.description });

/** What each rule family takes as `config`. */
const configs = ruleFamilies.reduceRight<Record<string, unknown>>(
  (otherwise, { name, config }) => ({
    if: { required: ["evaluator_family"], properties: { evaluator_family: { const: name } } },
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's word.
    then: { properties: { config: configSchema(config) }, unevaluatedProperties: true },
    else: otherwise,
  }),
  {},
);
// Not derived: Redocly takes what a reference carries beside it for a rule against all other fields.
const NewProfile = z
  .object(EvaluatorProfileCreateRequest.shape)
  .meta({ id: "EvaluatorProfileCreateRequest", ...configs });

function configSchema(config: z.ZodType) {
  const { $schema, ...schema } = z.toJSONSchema(config, {
    io: "input",
    unrepresentable: "any",
    metadata: withoutIds,
  });
  return { ...schema, description: "The config of this family." };
}

/** What differs between the two names of profiles. */
interface Wording {
  path: ProfileNaming["path"];
  /** How the ids of operations name one, and several. */
  idOfOne: string;
  idOfMany: string;
  /** One in a sentence, and several. */
  one: string;
  many: string;
  /** Both names have the same profiles, so the examples of creating differ. */
  exampleName: string;
  /** The end of each description, for the same operation under the other name. */
  sameAs: (operation: string) => string;
  respondWithOne: (description: string, example: EvaluatorProfile) => ReturnType<typeof response>;
  respondWithMany: (description: string, examples: EvaluatorProfile[]) => ReturnType<typeof response>;
}

const asProfiles: Wording = {
  path: "/v1/evaluator-profiles",
  idOfOne: "EvaluatorProfile",
  idOfMany: "EvaluatorProfiles",
  one: "a profile",
  many: "profiles",
  exampleName: exampleProfile.name,
  sameAs: () => "",
  respondWithOne: (description, example) =>
    response(description, EvaluatorProfileResponse, { evaluator_profile: example }),
  respondWithMany: (description, examples) =>
    response(description, EvaluatorProfileListResponse, { evaluator_profiles: examples }),
};

const asCriteria: Wording = {
  path: "/v1/evaluator-criteria",
  idOfOne: "EvaluatorCriteria",
  idOfMany: "EvaluatorCriteria",
  one: "criteria",
  many: "criteria",
  exampleName: "mentions-the-door",
  sameAs: (operation) =>
    ` Criteria are profiles under another name: this is \`${operation}\` for clients that call them criteria.`,
  respondWithOne: (description, example) =>
    response(description, EvaluatorCriteriaResponse, { evaluator_criteria: example }),
  respondWithMany: (description, examples) =>
    response(description, EvaluatorCriteriaListResponse, { evaluator_criteria: examples }),
};

export const evaluatorProfilePaths: ZodOpenApiPathsObject = {
  ...pathsUnder(asProfiles),
  ...pathsUnder(asCriteria),
};

function pathsUnder(wording: Wording): ZodOpenApiPathsObject {
  const { path, idOfOne, idOfMany, one, many, exampleName, sameAs, respondWithOne, respondWithMany } =
    wording;
  return {
    [path]: {
      get: operationWithOldNames(`list${idOfMany}`, tag, `List revisions of ${many}`, {
        description: `Lists the account's profiles, archived ones only on request, and the built-in ones, whose names begin with \`system:\`.${sameAs("GET /v1/evaluator-profiles")}`,
        requestParams: { query: query(EvaluatorProfileListQuery) },
        responses: {
          "200": respondWithMany("The account's profiles, newest first, then the built-in ones", [
            exampleRevision,
            exampleProfile,
          ]),
          ...pageTooLarge,
        },
      }),
      post: operationWithOldNames(`create${idOfOne}`, tag, `Create ${one}`, {
        description: `Creates a named configuration of an evaluator family. Evaluations name it as \`profile_name\`. \`config\` must match \`profile_config_schema\` of the family.${sameAs("POST /v1/evaluator-profiles")}`,
        requestParams: { header: idempotencyHeader },
        requestBody: body(NewProfile, {
          evaluator_family: exampleProfile.evaluator_family,
          name: exampleName,
          config: exampleProfile.config,
          description: exampleProfile.description,
        }),
        responses: {
          "201": respondWithOne("The profile's first revision", { ...exampleProfile, name: exampleName }),
          "409": errorResponse(
            "The family already has a profile of this name, possibly archived",
            "The family contains already has a profile of this name; it may be archived.",
          ),
        },
      }),
    },
    [`${path}/{public_id}/archive`]: {
      patch: operationWithOldNames(`archive${idOfOne}`, tag, `Archive ${one} permanently`, {
        description: `Archives all revisions of a profile. Evaluations can no longer use it; its results stay. Archiving an archived profile changes nothing.${sameAs("PATCH /v1/evaluator-profiles/{public_id}/archive")}`,
        requestParams,
        requestBody: optionalBody(EvaluatorProfileArchiveRequest, { evaluator_family: "contains" }),
        responses: {
          "200": respondWithMany("Every revision of the profile, newest first", [
            { ...exampleRevision, archived_at },
            { ...exampleProfile, archived_at },
          ]),
          "409": errorResponse(
            "The profile is built-in",
            "system:default is built in and cannot be changed.",
          ),
          ...profileNotFound,
        },
      }),
    },
    [`${path}/{public_id}/revision`]: {
      post: operationWithOldNames(`revise${idOfOne}`, tag, `Add a revision to ${one}`, {
        description: `Replaces the config of a profile. Evaluations use the newest revision; a result keeps the revision that it was made with.${sameAs("POST /v1/evaluator-profiles/{public_id}/revision")}`,
        requestParams: { ...requestParams, header: idempotencyHeader },
        requestBody: body(EvaluatorProfileRevisionRequest, { config: exampleRevision.config }),
        responses: {
          "201": respondWithOne("The new revision", exampleRevision),
          "409": errorResponse(
            "The profile is archived or built-in",
            "The profile is archived and cannot be revised.",
          ),
          ...profileNotFound,
        },
      }),
    },
    [`${path}/{public_id}/agreement`]: {
      get: operation(`get${idOfOne}Agreement`, tag, `Show how far people agree with ${one}`, {
        description: `Compares the verdicts of each revision with people's corrections: how often they agreed, and in which direction the evaluator errs.${sameAs("GET /v1/evaluator-profiles/{public_id}/agreement")}`,
        requestParams,
        responses: {
          "200": response("Each revision's agreement with the account's corrections", AgreementResponse, {
            public_id: exampleProfile.public_id,
            revisions: [
              {
                revision: 1,
                corrected: 20,
                agreed: 17,
                should_fail: 2,
                should_pass: 1,
                interval_method: "independent",
                clusters: null,
                agreement: 0.85,
                agreement_interval: {
                  level: 0.95,
                  lower: 0.6396039275970434,
                  upper: 0.9476306360768003,
                },
              },
            ],
          }),
          ...profileNotFound,
        },
      }),
    },
    [`${path}/{public_id}/disagreements`]: {
      get: operation(`list${idOfOne}Disagreements`, tag, `List what people decided otherwise than ${one}`, {
        description: `Lists the results of all revisions whose verdict a person's latest correction reverses.${sameAs("GET /v1/evaluator-profiles/{public_id}/disagreements")}`,
        requestParams: { ...requestParams, query: DisagreementQuery },
        responses: {
          "200": response("The results, the latest corrections first", DisagreementListResponse, {
            data: [
              {
                result_id: "41",
                evaluator_id: "contains-2026-11-21",
                revision: 1,
                pass: false,
                score_raw: 0,
                created_at: "2026-11-22T03:46:48.009Z",
                correction: {
                  pass: true,
                  score_raw: 1,
                  comment: "It says “gate” instead of “door”.",
                  created_at: "2026-11-22T09:12:05.310Z",
                },
                output: "The gate opens.",
              },
            ],
          }),
          ...profileNotFound,
        },
      }),
    },
  };
}
