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
  answer,
  body,
  notValid,
  onceHeader,
  operation,
  optionalBody,
  pageTooLarge,
  query,
  storeUnavailable,
  tooLarge,
  unauthenticated,
  withDeprecation,
} from "../docs/describe.ts";

const tag = "evaluator profiles";
const failures = { ...unauthenticated, ...notValid, ...storeUnavailable };
const noProfile = { "404": answer("The account has no such profile", ErrorResponse) };
const requestParams = { path: EvaluatorProfilePath };

export const evaluatorProfilePaths: ZodOpenApiPathsObject = {
  "/v1/evaluator-profiles": {
    get: operation("listEvaluatorProfiles", tag, "List revisions of profiles", {
      requestParams: { query: query(EvaluatorProfileListQuery) },
      responses: withDeprecation({
        "200": answer(
          "The account's, newest first, then those that come with Presage",
          EvaluatorProfileListResponse,
        ),
        ...pageTooLarge,
        ...failures,
      }),
    }),
    post: operation("createEvaluatorProfile", tag, "Create a profile", {
      requestParams: { header: onceHeader },
      requestBody: body(EvaluatorProfileCreateRequest),
      responses: withDeprecation({
        "201": answer("The profile's first revision", EvaluatorProfileResponse),
        "409": answer("The family has a profile of this name already, perhaps archived", ErrorResponse),
        ...failures,
        ...tooLarge,
      }),
    }),
  },
  "/v1/evaluator-profiles/{public_id}/archive": {
    patch: operation("archiveEvaluatorProfile", tag, "Archive a profile for good", {
      requestParams,
      requestBody: optionalBody(EvaluatorProfileArchiveRequest),
      responses: withDeprecation({
        "200": answer("Every revision of the profile, newest first", EvaluatorProfileListResponse),
        "409": answer("The profile comes with Presage", ErrorResponse),
        ...noProfile,
        ...failures,
        ...tooLarge,
      }),
    }),
  },
  "/v1/evaluator-profiles/{public_id}/revision": {
    post: operation("reviseEvaluatorProfile", tag, "Add a revision to a profile", {
      requestParams: { ...requestParams, header: onceHeader },
      requestBody: body(EvaluatorProfileRevisionRequest),
      responses: withDeprecation({
        "201": answer("The new revision", EvaluatorProfileResponse),
        "409": answer("The profile is archived, or comes with Presage", ErrorResponse),
        ...noProfile,
        ...failures,
        ...tooLarge,
      }),
    }),
  },
  "/v1/evaluator-profiles/{public_id}/agreement": {
    get: operation("getEvaluatorProfileAgreement", tag, "Tell how far people agreed with a profile", {
      requestParams,
      responses: {
        "200": answer("Each revision's agreement with the account's corrections", AgreementResponse),
        ...noProfile,
        ...failures,
      },
    }),
  },
};
