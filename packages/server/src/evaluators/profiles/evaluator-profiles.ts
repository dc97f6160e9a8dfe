import {
  type AgreementResponse,
  type DisagreementListResponse,
  DisagreementQuery,
  defaultDisagreements,
  defaultRevisionLimit,
  EvaluatorProfileArchiveRequest,
  EvaluatorProfileCreateRequest,
  EvaluatorProfileListQuery,
  EvaluatorProfilePath,
  EvaluatorProfileRevisionRequest,
  isTrueWord,
} from "@presage/contract";
import type { Services } from "../../app/services.ts";
import { readPage } from "../../http/read-page.ts";
import { readBody, readExactBody, readOnce, readPath, readQuery } from "../../http/read-request.ts";
import { requesterOf } from "../../http/requester-of.ts";
import { type Call, type CallWithCaller, type Route, withCaller } from "../../http/route.ts";
import { streamList } from "../../http/stream-list.ts";
import { toIsoInstant } from "../../platform/storage/micros.ts";
import type { Pieces } from "../../platform/storage/read-in-pieces.ts";
import { type CorrectedResult, listDisagreements } from "../../results/list-disagreements.ts";
import { measureAgreement, type RevisionAgreement } from "../../results/measure-agreement.ts";
import { type ProfileNaming, profileNamings, readFamily, readIsManaged } from "../old-names.ts";
import type { Registry } from "../registry.ts";
import { archiveProfile } from "./archive-profile.ts";
import { createProfile } from "./create-profile.ts";
import { evaluatorProfileJson, toEvaluatorProfile } from "./evaluator-profile.ts";
import { findOwnProfile } from "./find-profile.ts";
import { listProfiles, type ProfileFilter } from "./list-profiles.ts";
import type { ProfileRevision } from "./profiles-store.ts";
import { readNewConfig, readRevisedConfig, refuseOtherFamily } from "./read-profile.ts";
import { reviseProfile } from "./revise-profile.ts";

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
