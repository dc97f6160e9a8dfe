import { expect } from "bun:test";
import {
  ErrorTaxonomyRevision,
  ErrorTaxonomyRevisionCreateResponse,
  ErrorTaxonomyRevisionListResponse,
} from "@presage/contract";
import type { TestPresage } from "../presage/presage.ts";

export const path = "/v1/error-taxonomy-revision";
export const tree = { categories: [{ name: "reasoning", errors: ["wrong fact"] }] };
/** An unknown id. */
export const nowhere = "00000000-0000-4000-8000-000000000000";

/** Calls that must succeed, and `post` for those that may fail. `presage` is a function, as a server may restart. */
export function errorTaxonomyClient(presage: () => TestPresage) {
  const post = (where: string, body: unknown, headers?: Record<string, string>) =>
    presage().call("POST", path + where, body, headers);

  return {
    post,
    async create(fields: Record<string, unknown>): Promise<ErrorTaxonomyRevision> {
      const response = await post("", { body: tree, ...fields });
      expect(response.status).toBe(201);
      return ErrorTaxonomyRevisionCreateResponse.parse(await response.json()).error_taxonomy_revision;
    },
    async changeLabels(
      verb: "set-labels" | "remove-labels",
      { id }: ErrorTaxonomyRevision,
      labels: string[],
    ): Promise<ErrorTaxonomyRevision> {
      const response = await post(`/${id}/${verb}`, { labels });
      expect(response.status).toBe(200);
      return ErrorTaxonomyRevision.parse(await response.json());
    },
    async find(id: string): Promise<ErrorTaxonomyRevision> {
      const response = await presage().call("GET", `${path}/${id}`);
      expect(response.status).toBe(200);
      return ErrorTaxonomyRevision.parse(await response.json());
    },
    async list(query: Record<string, string>): Promise<ErrorTaxonomyRevision[]> {
      const response = await presage().call("GET", `${path}?${new URLSearchParams(query)}`);
      expect(response.status).toBe(200);
      return ErrorTaxonomyRevisionListResponse.parse(await response.json()).data;
    },
  };
}
