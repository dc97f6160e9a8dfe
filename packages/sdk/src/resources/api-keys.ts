import type {
  ApiKeyCreateRequest,
  ApiKeyCreateResponse,
  ApiKeyListResponse,
  ApiKeyResponse,
  ApiKeyUpdateRequest,
} from "@presage/contract";
import type { CallOptions, WriteOptions } from "../call.ts";
import { listAllPages } from "../paging/list-all-pages.ts";
import type { Transport } from "../transport.ts";
import { underOneKey } from "../under-one-key.ts";

export interface ApiKeys {
  /** Lists all keys of the user, newest first, over all pages: `GET /v1/api-keys`. */
  list(options?: CallOptions): Promise<ApiKeyResponse[]>;
  /** Creates a key: `POST /v1/api-keys`. Only this response contains the key itself. */
  create(request: ApiKeyCreateRequest, options?: WriteOptions): Promise<ApiKeyCreateResponse>;
  /** Changes a key's limits: `PATCH /v1/api-keys/{id}`. What is absent stays; null restores the server's limit. */
  update(id: string, request: ApiKeyUpdateRequest, options?: CallOptions): Promise<ApiKeyResponse>;
  /** Revokes a key for good: `DELETE /v1/api-keys/{id}`. */
  revoke(id: string, options?: CallOptions): Promise<void>;
}

const path = "/v1/api-keys";

export function apiKeys({ json }: Transport): ApiKeys {
  const pathOf = (id: string) => `${path}/${encodeURIComponent(id)}`;
  return {
    list: (options) =>
      listAllPages((query) => json<ApiKeyListResponse>({ method: "GET", path, query }, options)),
    create: (body, options) => json({ method: "POST", path, body, ...underOneKey(options) }, options),
    update: (id, body, options) =>
      json({ method: "PATCH", path: pathOf(id), body, isRepeatable: true }, options),
    revoke: (id, options) => json({ method: "DELETE", path: pathOf(id), isRepeatable: true }, options),
  };
}
