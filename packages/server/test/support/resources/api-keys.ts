import { expect } from "bun:test";
import { ApiKeyCreateResponse, ApiKeyListResponse, type ApiKeyResponse } from "@presage/contract";
import { type TestPresage, testKey } from "../presage/presage.ts";

/** Manages the owner's keys by calls that must succeed. `presage` is a function, as a server may restart. */
export function apiKeyClient(presage: () => Pick<TestPresage, "call">) {
  async function list(key = testKey): Promise<ApiKeyResponse[]> {
    const response = await presage().call("GET", "/v1/api-keys", undefined, { "x-api-key": key });
    expect(response.status).toBe(200);
    return ApiKeyListResponse.parse(await response.json()).data;
  }

  return {
    list,
    async create(name: string, expiresAt?: string | null): Promise<ApiKeyCreateResponse> {
      const response = await presage().call("POST", "/v1/api-keys", { name, expires_at: expiresAt });
      expect(response.status).toBe(201);
      return ApiKeyCreateResponse.parse(await response.json());
    },
    async find(id: string): Promise<ApiKeyResponse | undefined> {
      return (await list()).find((apiKey) => apiKey.id === id);
    },
    async revoke(id: string, key = testKey): Promise<number> {
      const path = `/v1/api-keys/${id}`;
      return (await presage().call("DELETE", path, undefined, { "x-api-key": key })).status;
    },
    /** The status of a call with this key. */
    async use(key: string): Promise<number> {
      return (await presage().call("GET", "/v1/me", undefined, { "x-api-key": key })).status;
    },
  };
}
