import { expect } from "bun:test";
import {
  type EvaluatorProfile,
  EvaluatorProfileListResponse,
  EvaluatorProfileResponse,
} from "@presage/contract";
import type { TestPresage } from "../presage/presage.ts";

export const path = "/v1/evaluator-profiles";
/** An unknown id. */
export const nowhere = "00000000-0000-4000-8000-000000000000";

/** Calls that must succeed, and `post` for those that may fail. `presage` is a function, as a server may restart. */
export function evaluatorProfileClient(presage: () => Pick<TestPresage, "call">) {
  const post = (where: string, body: unknown, headers?: Record<string, string>) =>
    presage().call("POST", path + where, body, headers);

  return {
    post,
    /** An `exact-match` profile by default. */
    async create(fields: Record<string, unknown>): Promise<EvaluatorProfile> {
      const response = await post("", { evaluator_family: "exact-match", config: {}, ...fields });
      expect(response.status).toBe(201);
      return EvaluatorProfileResponse.parse(await response.json()).evaluator_profile;
    },
    async revise({ public_id }: EvaluatorProfile, body: Record<string, unknown>): Promise<EvaluatorProfile> {
      const response = await post(`/${public_id}/revision`, body);
      expect(response.status).toBe(201);
      return EvaluatorProfileResponse.parse(await response.json()).evaluator_profile;
    },
    async archive({ public_id }: EvaluatorProfile): Promise<EvaluatorProfile[]> {
      const response = await presage().call("PATCH", `${path}/${public_id}/archive`);
      expect(response.status).toBe(200);
      return EvaluatorProfileListResponse.parse(await response.json()).evaluator_profiles;
    },
    async list(query: Record<string, string>): Promise<EvaluatorProfile[]> {
      const response = await presage().call("GET", `${path}?${new URLSearchParams(query)}`);
      expect(response.status).toBe(200);
      return EvaluatorProfileListResponse.parse(await response.json()).evaluator_profiles;
    },
  };
}
