import {
  EvaluatorProfileArchiveRequest,
  EvaluatorProfileCreateRequest,
  EvaluatorProfileListQuery,
  type EvaluatorProfileListResponse,
  EvaluatorProfilePath,
  type EvaluatorProfileResponse,
  EvaluatorProfileRevisionRequest,
  isTrueWord,
} from "@presage/contract";
import type { CheckInThread } from "../../../evaluation/profiles/check-config.ts";
import type { NewProfile } from "../../../evaluation/profiles/create-profile.ts";
import type { ProfileFilter } from "../../../evaluation/profiles/list-profiles.ts";
import type { RevisionAgreement } from "../../../evaluation/profiles/measure-agreement.ts";
import type { Page, ProfileRevision } from "../../../evaluation/profiles/profiles-store.ts";
import type { NewRevision } from "../../../evaluation/profiles/revise-profile.ts";
import type { ConfigCheckTask } from "../../../evaluation/rules/run-rule.ts";
import type { Log } from "../../../observability/logger.ts";
import type { Once } from "../../../storage/idempotency/once.ts";
import type { Pieces } from "../../../storage/read-in-pieces.ts";
import type { Asker } from "../../../storage/reader.ts";
import { type Call, type CallWithCaller, type Route, withCaller } from "../../pipeline/route.ts";
import { askerOf } from "../../request/asker-of.ts";
import { readFamily, readIsManaged } from "../../request/deprecations.ts";
import { readOnce } from "../../request/read-idempotency-key.ts";
import { readBody, readExactBody, readPath, readQuery } from "../../request/read-request.ts";
import { answerBroke } from "../../response/answer-broke.ts";
import { streamList } from "../../response/stream-list.ts";
import { toAgreementResponse } from "./agreement.ts";
import { evaluatorProfileJson, toEvaluatorProfile } from "./evaluator-profile.ts";
import { type FindFamily, readNewConfig, readRevisedConfig, refuseOtherFamily } from "./read-profile.ts";

export interface EvaluatorProfilesArea {
  findFamily: FindFamily;
  createProfile(asker: Asker, profile: NewProfile, once: Once | undefined): Promise<ProfileRevision>;
  checkInThread(task: ConfigCheckTask, asker: Asker): ReturnType<CheckInThread>;
  findOwnProfile(accountId: string, publicId: string): Promise<{ evaluator_family: string }>;
  reviseProfile(asker: Asker, revision: NewRevision, once: Once | undefined): Promise<ProfileRevision>;
  archiveProfile(asker: Asker, publicId: string): Promise<Pieces<ProfileRevision>>;
  listProfiles(asker: Asker, filter: ProfileFilter, page: Page): Promise<Pieces<ProfileRevision>>;
  measureAgreement(asker: Asker, publicId: string): Promise<RevisionAgreement[]>;
}

const path = "/v1/evaluator-profiles";
const defaultLimit = 50;
const optionalArchiveRequest = EvaluatorProfileArchiveRequest.optional();

export function evaluatorProfileRoutes(area: EvaluatorProfilesArea, maxBodyBytes: number, log: Log): Route[] {
  const onBroken = answerBroke(log);
  const checkerOf =
    (call: CallWithCaller): CheckInThread =>
    (task) =>
      area.checkInThread(task, askerOf(call));

  function answerList(call: Call, revisions: Pieces<ProfileRevision>): Promise<Response> {
    const name: keyof EvaluatorProfileListResponse = "evaluator_profiles";
    return streamList(call, name, revisions, evaluatorProfileJson, onBroken(call));
  }

  return [
    withCaller("GET", path, async (call) => {
      const query = readQuery(call, EvaluatorProfileListQuery);
      const filter = toFilter(query, area.findFamily);
      const page = { limit: Number(query.limit ?? defaultLimit), offset: Number(query.offset ?? 0) };
      return await answerList(call, await area.listProfiles(askerOf(call), filter, page));
    }),
    withCaller("POST", path, async (call) => {
      const body = await readExactBody(call, EvaluatorProfileCreateRequest, maxBodyBytes);
      const newProfile = {
        accountId: call.caller.accountId,
        config: await readNewConfig(body, area.findFamily, checkerOf(call)),
        name: body.name,
        description: body.description ?? undefined,
      };
      return toResponse(
        await area.createProfile(askerOf(call), newProfile, readOnce(call, "create profile", body)),
      );
    }),
    withCaller("PATCH", `${path}/:public_id/archive`, async (call) => {
      const body = await readBody(call, optionalArchiveRequest, maxBodyBytes);
      const publicId = publicIdOf(call);
      const { accountId } = call.caller;
      const { evaluator_family } = await area.findOwnProfile(accountId, publicId);
      refuseOtherFamily(body ?? {}, evaluator_family, area.findFamily);
      return await answerList(call, await area.archiveProfile(askerOf(call), publicId));
    }),
    withCaller("POST", `${path}/:public_id/revision`, async (call) => {
      const body = await readExactBody(call, EvaluatorProfileRevisionRequest, maxBodyBytes);
      const publicId = publicIdOf(call);
      const { accountId } = call.caller;
      const { evaluator_family } = await area.findOwnProfile(accountId, publicId);
      const revision = {
        accountId,
        publicId,
        config: await readRevisedConfig(body, evaluator_family, area.findFamily, checkerOf(call)),
        description: body.description ?? undefined,
      };
      return toResponse(
        await area.reviseProfile(askerOf(call), revision, readOnce(call, "revise profile", body)),
      );
    }),
    withCaller("GET", `${path}/:public_id/agreement`, async (call) => {
      const publicId = publicIdOf(call);
      const revisions = await area.measureAgreement(askerOf(call), publicId);
      return Response.json(toAgreementResponse(publicId, revisions));
    }),
  ];
}

function publicIdOf(call: CallWithCaller): string {
  return readPath(call, EvaluatorProfilePath).public_id.toLowerCase();
}

function toFilter(query: EvaluatorProfileListQuery, findFamily: FindFamily): ProfileFilter {
  const named = readFamily(query)?.name;
  const managed = readIsManaged(query);
  return {
    publicId: query.public_id?.toLowerCase(),
    family: named === undefined ? undefined : (findFamily(named)?.name ?? named),
    name: query.name,
    revision: query.revision === undefined ? undefined : Number(query.revision),
    isLastOnly: isTrueWord(query.get_last_revision ?? "false"),
    isManaged: managed === undefined ? undefined : isTrueWord(managed),
    isArchivedToo: isTrueWord(query.include_archived ?? "false"),
  };
}

function toResponse(revision: ProfileRevision): Response {
  const answer: EvaluatorProfileResponse = { evaluator_profile: toEvaluatorProfile(revision) };
  return Response.json(answer, { status: 201 });
}
