import type {
  AgreementResponse,
  Disagreement,
  DisagreementListResponse,
  Evaluator,
  EvaluatorFamily,
  EvaluatorFamilyListResponse,
  EvaluatorListResponse,
  EvaluatorProfile,
  EvaluatorProfileCreateRequest,
  EvaluatorProfileListQuery,
  EvaluatorProfileListResponse,
  EvaluatorProfileResponse,
  EvaluatorProfileRevisionRequest,
} from "@presage/contract";
import type { CallOptions, WriteOptions } from "../call.ts";
import { callsOf, pathsUnder } from "../resource.ts";
import type { Transport } from "../transport.ts";

/** The available evaluators. */
export interface Evaluators {
  /** Lists every version of every family: `GET /v1/evaluators`. */
  list(options?: CallOptions): Promise<Evaluator[]>;
  /** Lists the families with their inputs and config schemas: `GET /v1/evaluator-families`. */
  listFamilies(options?: CallOptions): Promise<EvaluatorFamily[]>;
}

export function evaluators(transport: Transport): Evaluators {
  const { get } = callsOf(transport);
  return {
    list: async (options) => (await get<EvaluatorListResponse>("/v1/evaluators", options)).evaluators,
    listFamilies: async (options) =>
      (await get<EvaluatorFamilyListResponse>("/v1/evaluator-families", options)).evaluator_families,
  };
}

/** Selects revisions; all given filters must match. */
export interface EvaluatorProfileFilter
  extends Pick<EvaluatorProfileListQuery, "public_id" | "evaluator_family" | "name"> {
  revision?: number | undefined;
  /** Only the last revision of each profile. */
  get_last_revision?: boolean | undefined;
  is_managed?: boolean | undefined;
  include_archived?: boolean | undefined;
  /** 1 to 1,000. Default: 50. */
  limit?: number | undefined;
  offset?: number | undefined;
}

/** Configurations of evaluators, in revisions. */
export interface EvaluatorProfiles {
  /** Lists revisions of profiles: `GET /v1/evaluator-profiles`. Pages over 64 MB are refused with 413: lower `limit`. */
  list(filter?: EvaluatorProfileFilter, options?: CallOptions): Promise<EvaluatorProfile[]>;
  /** Creates the first revision of a profile: `POST /v1/evaluator-profiles`. */
  create(request: EvaluatorProfileCreateRequest, options?: WriteOptions): Promise<EvaluatorProfile>;
  /** Adds a revision with a new config: `POST /v1/evaluator-profiles/{public_id}/revision`. */
  revise(
    publicId: string,
    request: EvaluatorProfileRevisionRequest,
    options?: WriteOptions,
  ): Promise<EvaluatorProfile>;
  /** Archives a profile and returns its revisions: `PATCH /v1/evaluator-profiles/{public_id}/archive`. */
  archive(publicId: string, options?: CallOptions): Promise<EvaluatorProfile[]>;
  /** Gets how far people agreed with each revision: `GET /v1/evaluator-profiles/{public_id}/agreement`. */
  agreement(publicId: string, options?: CallOptions): Promise<AgreementResponse>;
  /**
   * Lists results whose verdict a person has reversed, the latest corrections first:
   * `GET /v1/evaluator-profiles/{public_id}/disagreements`.
   */
  disagreements(
    publicId: string,
    page?: { limit?: number | undefined },
    options?: CallOptions,
  ): Promise<Disagreement[]>;
}

const path = "/v1/evaluator-profiles";
const pathOf = pathsUnder(path);

export function evaluatorProfiles(transport: Transport): EvaluatorProfiles {
  const { get, create, repeatable } = callsOf(transport);
  const post = async (path: string, body: unknown, options: WriteOptions | undefined) =>
    (await create<EvaluatorProfileResponse>(path, body, options)).evaluator_profile;
  return {
    list: async (filter, options) =>
      (await get<EvaluatorProfileListResponse>(path, options, filter)).evaluator_profiles,
    create: (request, options) => post(path, request, options),
    revise: (publicId, request, options) => post(pathOf(publicId, "/revision"), request, options),
    async archive(publicId, options) {
      const archived = repeatable<EvaluatorProfileListResponse>(
        "PATCH",
        pathOf(publicId, "/archive"),
        options,
      );
      return (await archived).evaluator_profiles;
    },
    agreement: (publicId, options) => get(pathOf(publicId, "/agreement"), options),
    disagreements: async (publicId, page, options) =>
      (await get<DisagreementListResponse>(pathOf(publicId, "/disagreements"), options, page)).data,
  };
}
