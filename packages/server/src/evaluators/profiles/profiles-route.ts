import {
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
import { body, errorResponse, noSuch, pageTooLarge, response } from "../../http/describe.ts";
import type { HttpServices } from "../../http/exchange.ts";
import { readPage } from "../../http/request.ts";
import { streamList } from "../../http/response.ts";
import { reply, route } from "../../http/route.ts";
import { InvalidRequestError, nameNarrowType, toIssues, valueError } from "../../http/validate.ts";
import type { Changer } from "../../platform/audit.ts";
import { conflict } from "../../platform/errors.ts";
import { parseStored } from "../../platform/json.ts";
import { isoInstantOrNull, toIsoInstant } from "../../platform/storage/columns.ts";
import type { Store } from "../../platform/storage/store.ts";
import examples from "../examples.json" with { type: "json" };
import type { Family } from "../family.ts";
import {
  asCriteria,
  asProfiles,
  type FamilyFields,
  type ProfileNaming,
  readFamily,
  readIsManaged,
  withOldProfileNames,
} from "../old-names.ts";
import { type Registry, ruleFamilies } from "../registry.ts";
import type { RuleRunner } from "../rules/run-rule.ts";
import {
  archiveProfile,
  builtInPrefix,
  type CheckedConfig,
  checkConfig,
  createProfile,
  getOwnProfile,
  listProfiles,
  type ProfileFilter,
  reviseProfile,
} from "./profiles.ts";
import type { ProfileRevision } from "./profiles-store.ts";

/** What checking a profile's config needs. */
interface ConfigServices {
  registry: Registry;
  rules: RuleRunner;
}

interface ProfileServices extends ConfigServices, Pick<HttpServices, "log"> {
  store: Store;
  builtInProfiles: readonly ProfileRevision[];
}

export const profileNotFound = noSuch("profile", "evaluator profile");

const archived_at = "2026-11-23T16:40:11.902Z";

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
// Not derived, because Redocly takes what is next to a reference for a rule against all other fields.
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

/** Both names have the same profiles, so the examples of creating differ. */
const exampleNames = { [asProfiles.path]: examples.profile.name, [asCriteria.path]: "mentions-the-door" };

export const evaluatorProfileRoutes = [asProfiles, asCriteria].flatMap((naming) => [
  listUnder(naming),
  createUnder(naming),
  archiveUnder(naming),
  reviseUnder(naming),
]);

function listUnder(naming: ProfileNaming) {
  const { path, many, idOfMany, words, sameAs } = naming;
  return route("GET", path, {
    needs: "read",
    id: `list${idOfMany}`,
    summary: `List revisions of ${words}`,
    description: `Lists the account's profiles, archived ones only on request, and the built-in ones, whose names begin with \`system:\`.${sameAs("GET")}`,
    query: EvaluatorProfileListQuery,
    allowsUnknown: true,
    hasOldNames: true,
    responses: {
      "200": responseWithMany(naming, "The account's profiles, newest first, then the built-in ones", [
        examples.revisedProfile,
        examples.profile,
      ]),
      ...pageTooLarge,
    },
    async handle(services: ProfileServices, { call, requester, query }) {
      const filter = toFilter(query, services.registry);
      const found = await listProfiles(services, requester, filter, readPage(query, defaultRevisionLimit));
      return await streamList(services, call, many, found, evaluatorProfileJson);
    },
  });
}

function createUnder(naming: ProfileNaming) {
  const { path, one, idOfOne, word, sameAs } = naming;
  const name = exampleNames[path] ?? examples.profile.name;
  const { evaluator_family, config, description } = examples.profile;
  return route("POST", path, {
    needs: "evaluate",
    id: `create${idOfOne}`,
    summary: `Create ${word}`,
    description: `Creates a named configuration of an evaluator family. Evaluations name it as \`profile_name\`. \`config\` must match \`profile_config_schema\` of the family.${sameAs("POST")}`,
    body: EvaluatorProfileCreateRequest,
    isExact: true,
    once: "create profile",
    hasOldNames: true,
    more: { requestBody: body(NewProfile, { evaluator_family, name, config, description }) },
    responses: {
      "201": responseWithOne(naming, "The profile's first revision", { ...examples.profile, name }),
      "409": errorResponse(
        "The family already has a profile of this name, possibly archived",
        "The family contains already has a profile of this name; it may be archived.",
      ),
    },
    async handle(services: ProfileServices, { requester, body, once }) {
      const newProfile = {
        config: await readNewConfig(services, requester, body),
        name: body.name,
        description: body.description ?? undefined,
      };
      const made = await createProfile(services, requester, newProfile, once);
      return reply(201, { [one]: toEvaluatorProfile(made) });
    },
  });
}

function archiveUnder(naming: ProfileNaming) {
  const { path, many, idOfOne, word, sameAs } = naming;
  return route("PATCH", `${path}/:public_id/archive`, {
    needs: "evaluate",
    id: `archive${idOfOne}`,
    summary: `Archive ${word} permanently`,
    description: `Archives all revisions of a profile. Evaluations can no longer use it; its results stay. Archiving an archived profile changes nothing.${sameAs("PATCH", "/{public_id}/archive")}`,
    params: EvaluatorProfilePath,
    body: EvaluatorProfileArchiveRequest.optional(),
    bodyExample: { evaluator_family: "contains" },
    bodyIsOptional: true,
    hasOldNames: true,
    responses: {
      "200": responseWithMany(naming, "Every revision of the profile, newest first", [
        { ...examples.revisedProfile, archived_at },
        { ...examples.profile, archived_at },
      ]),
      "409": errorResponse("The profile is built-in", "system:default is built in and cannot be changed."),
      ...profileNotFound,
    },
    async handle(services: ProfileServices, { call, requester, params, body }) {
      const publicId = params.public_id.toLowerCase();
      const { evaluator_family } = await getOwnProfile(services, requester.accountId, publicId);
      const issues = issuesOfOtherFamily(services.registry, body ?? {}, evaluator_family);
      if (issues.length > 0) throw new InvalidRequestError(issues);
      const archived = await archiveProfile(services, requester, publicId);
      return await streamList(services, call, many, archived, evaluatorProfileJson);
    },
  });
}

function reviseUnder(naming: ProfileNaming) {
  const { path, one, idOfOne, word, sameAs } = naming;
  return route("POST", `${path}/:public_id/revision`, {
    needs: "evaluate",
    id: `revise${idOfOne}`,
    summary: `Add a revision to ${word}`,
    description: `Replaces the config of a profile. Evaluations use the newest revision; a result keeps the revision that it was made with.${sameAs("POST", "/{public_id}/revision")}`,
    params: EvaluatorProfilePath,
    body: EvaluatorProfileRevisionRequest,
    bodyExample: { config: examples.revisedProfile.config },
    isExact: true,
    once: "revise profile",
    hasOldNames: true,
    responses: {
      "201": responseWithOne(naming, "The new revision", examples.revisedProfile),
      "409": errorResponse(
        "The profile is archived or built-in",
        "The profile is archived and cannot be revised.",
      ),
      ...profileNotFound,
    },
    async handle(services: ProfileServices, { requester, params, body, once }) {
      const publicId = params.public_id.toLowerCase();
      const { evaluator_family } = await getOwnProfile(services, requester.accountId, publicId);
      const revision = {
        publicId,
        config: await readRevisedConfig(services, requester, body, evaluator_family),
        description: body.description ?? undefined,
      };
      const made = await reviseProfile(services, requester, revision, once);
      return reply(201, { [one]: toEvaluatorProfile(made) });
    },
  });
}

function responseWithOne(
  { one }: ProfileNaming,
  description: string,
  example: EvaluatorProfile,
): ReturnType<typeof response> {
  return one === "evaluator_profile"
    ? response(description, EvaluatorProfileResponse, { [one]: example })
    : response(description, EvaluatorCriteriaResponse, { [one]: example });
}

function responseWithMany(
  { many }: ProfileNaming,
  description: string,
  examples: EvaluatorProfile[],
): ReturnType<typeof response> {
  return many === "evaluator_profiles"
    ? response(description, EvaluatorProfileListResponse, { [many]: examples })
    : response(description, EvaluatorCriteriaListResponse, { [many]: examples });
}

/** A revision of a profile in a response, under new names and old. */
function toEvaluatorProfile({ config, created_at, archived_at, ...rest }: ProfileRevision): EvaluatorProfile {
  return withOldProfileNames({
    ...rest,
    // Checked before it was stored.
    config: parseStored(config) as EvaluatorProfile["config"],
    created_at: toIsoInstant(created_at),
    archived_at: isoInstantOrNull(archived_at),
  });
}

/** The same as JSON. The config is stored as JSON and is neither parsed nor written again. */
function evaluatorProfileJson(revision: ProfileRevision): string {
  const { config: _, ...rest } = toEvaluatorProfile({ ...revision, config: "{}" });
  return `${JSON.stringify(rest).slice(0, -1)},"config":${revision.config}}`;
}

/** Checks what the schema of a new profile cannot: that its family exists and accepts the config, and that the name is allowed. */
async function readNewConfig(
  services: ConfigServices,
  requester: Changer,
  body: EvaluatorProfileCreateRequest,
): Promise<CheckedConfig> {
  const named = readFamily(body);
  const family = named && services.registry.find(named.name)?.family;
  const config = family === undefined ? [] : await readConfig(services, requester, family, body);
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
  services: ConfigServices,
  requester: Changer,
  body: EvaluatorProfileRevisionRequest,
  familyName: string,
): Promise<CheckedConfig> {
  const family = services.registry.find(familyName)?.family;
  if (family === undefined) {
    throw conflict(`This version of Presage no longer has the family ${familyName}.`);
  }
  return accept(
    await readConfig(services, requester, family, body),
    issuesOfOtherFamily(services.registry, body, familyName),
  );
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
  { rules }: ConfigServices,
  requester: Changer,
  family: Family,
  body: { config: Record<string, unknown> },
): Promise<CheckedConfig | ValidationError[]> {
  const config = await checkConfig(family, body.config, nameNarrowType, (task) =>
    rules.check(task, requester),
  );
  if (!("issues" in config)) return config;
  const issues = config.issues.map((issue) => ({ ...issue, path: ["config", ...issue.path] }));
  return toIssues(issues, body, "body");
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
