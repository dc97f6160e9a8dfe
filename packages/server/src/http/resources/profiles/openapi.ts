import {
  AgreementResponse,
  ErrorResponse,
  EvaluatorProfileArchiveRequest,
  EvaluatorProfileCreateRequest,
  EvaluatorProfileListQuery,
  EvaluatorProfileListResponse,
  EvaluatorProfilePath,
  EvaluatorProfileResponse,
  EvaluatorProfileRevisionRequest,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import {
  body,
  failures,
  idempotencyHeader,
  operation,
  optionalBody,
  pageTooLarge,
  query,
  response,
  tooLarge,
  withDeprecation,
} from "../docs/describe.ts";

const tag = "evaluator profiles";
const profileNotFound = { "404": response("The account has no such profile", ErrorResponse) };
const requestParams = { path: EvaluatorProfilePath };

export const evaluatorProfilePaths: ZodOpenApiPathsObject = {
  "/v1/evaluator-profiles": {
    get: operation("listEvaluatorProfiles", tag, "List revisions of profiles", {
      requestParams: { query: query(EvaluatorProfileListQuery) },
      responses: withDeprecation({
        "200": response(
          "The account's profiles, newest first, then the built-in ones",
          EvaluatorProfileListResponse,
        ),
        ...pageTooLarge,
        ...failures,
      }),
    }),
    post: operation("createEvaluatorProfile", tag, "Create a profile", {
      requestParams: { header: idempotencyHeader },
      requestBody: body(EvaluatorProfileCreateRequest),
      responses: withDeprecation({
        "201": response("The profile's first revision", EvaluatorProfileResponse),
        "409": response("The family already has a profile of this name, possibly archived", ErrorResponse),
        ...failures,
        ...tooLarge,
      }),
    }),
  },
  "/v1/evaluator-profiles/{public_id}/archive": {
    patch: operation("archiveEvaluatorProfile", tag, "Archive a profile permanently", {
      requestParams,
      requestBody: optionalBody(EvaluatorProfileArchiveRequest),
      responses: withDeprecation({
        "200": response("Every revision of the profile, newest first", EvaluatorProfileListResponse),
        "409": response("The profile is built-in", ErrorResponse),
        ...profileNotFound,
        ...failures,
        ...tooLarge,
      }),
    }),
  },
  "/v1/evaluator-profiles/{public_id}/revision": {
    post: operation("reviseEvaluatorProfile", tag, "Add a revision to a profile", {
      requestParams: { ...requestParams, header: idempotencyHeader },
      requestBody: body(EvaluatorProfileRevisionRequest),
      responses: withDeprecation({
        "201": response("The new revision", EvaluatorProfileResponse),
        "409": response("The profile is archived or built-in", ErrorResponse),
        ...profileNotFound,
        ...failures,
        ...tooLarge,
      }),
    }),
  },
  "/v1/evaluator-profiles/{public_id}/agreement": {
    get: operation("getEvaluatorProfileAgreement", tag, "Show how far people agree with a profile", {
      requestParams,
      responses: {
        "200": response("Each revision's agreement with the account's corrections", AgreementResponse),
        ...profileNotFound,
        ...failures,
      },
    }),
  },
};
