import {
  EvaluatorProfileCreateRequest,
  EvaluatorProfileListQuery,
  type EvaluatorProfileListResponse,
  EvaluatorProfilePath,
  type EvaluatorProfileResponse,
  EvaluatorProfileRevisionRequest,
  isTrueWord,
} from "@presage/contract";
import type { NewProfile } from "../../evaluation/profiles/create-profile.ts";
import type { ProfileFilter } from "../../evaluation/profiles/list-profiles.ts";
import type { Page, ProfileRevision } from "../../evaluation/profiles/profiles-store.ts";
import type { NewRevision } from "../../evaluation/profiles/revise-profile.ts";
import { type NoteOldName, readFamily, readIsManaged } from "../deprecations.ts";
import { toEvaluatorProfile } from "../evaluator-profile.ts";
import { noteOldName } from "../exchange.ts";
import { readJsonBody } from "../read-json-body.ts";
import { type FindFamily, readNewConfig, readRevisedConfig } from "../read-profile.ts";
import { type CallWithKey, type Route, withKey } from "../route.ts";
import { validate } from "../validation.ts";

export interface EvaluatorProfilesArea {
  findFamily: FindFamily;
  createProfile(profile: NewProfile): Promise<ProfileRevision>;
  findOwnProfile(accountId: string, publicId: string): Promise<{ evaluator_family: string }>;
  reviseProfile(revision: NewRevision): Promise<ProfileRevision>;
  archiveProfile(accountId: string, publicId: string): Promise<ProfileRevision[]>;
  listProfiles(accountId: string, filter: ProfileFilter, page: Page): Promise<ProfileRevision[]>;
}

const path = "/v1/evaluator-profiles";
const defaultLimit = 50;

export function evaluatorProfileRoutes(area: EvaluatorProfilesArea, maxBodyBytes: number): Route[] {
  return [
    withKey("GET", path, async ({ request, exchange, caller }) => {
      const given = Object.fromEntries(new URL(request.url).searchParams);
      const query = validate(EvaluatorProfileListQuery, given, "query");
      const filter = toFilter(query, area.findFamily, noteOldName(exchange));
      const page = { limit: Number(query.limit ?? defaultLimit), offset: Number(query.offset ?? 0) };
      return toListResponse(await area.listProfiles(caller.accountId, filter, page));
    }),
    withKey("POST", path, async ({ request, exchange, caller }) => {
      const body = validate(EvaluatorProfileCreateRequest, await readJsonBody(request, maxBodyBytes), "body");
      const profile = await area.createProfile({
        accountId: caller.accountId,
        config: readNewConfig(body, area.findFamily, noteOldName(exchange)),
        name: body.name,
        description: body.description ?? undefined,
      });
      return toResponse(profile);
    }),
    withKey("PATCH", `${path}/:public_id/archive`, async (call) =>
      toListResponse(await area.archiveProfile(call.caller.accountId, publicIdOf(call))),
    ),
    withKey("POST", `${path}/:public_id/revision`, async (call) => {
      const { request, exchange, caller } = call;
      const publicId = publicIdOf(call);
      const given = await readJsonBody(request, maxBodyBytes);
      const body = validate(EvaluatorProfileRevisionRequest, given, "body");
      const { evaluator_family } = await area.findOwnProfile(caller.accountId, publicId);
      const profile = await area.reviseProfile({
        accountId: caller.accountId,
        publicId,
        config: readRevisedConfig(body, evaluator_family, area.findFamily, noteOldName(exchange)),
        description: body.description ?? undefined,
      });
      return toResponse(profile);
    }),
  ];
}

function publicIdOf({ request }: CallWithKey): string {
  return validate(EvaluatorProfilePath, request.params, "path").public_id.toLowerCase();
}

function toFilter(
  query: EvaluatorProfileListQuery,
  findFamily: FindFamily,
  note: NoteOldName,
): ProfileFilter {
  const named = readFamily(query, note)?.name;
  const managed = readIsManaged(query, note);
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

function toListResponse(revisions: ProfileRevision[]): Response {
  const answer: EvaluatorProfileListResponse = { evaluator_profiles: revisions.map(toEvaluatorProfile) };
  return Response.json(answer);
}
