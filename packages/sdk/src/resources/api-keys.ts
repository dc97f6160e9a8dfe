import type {
  ApiKeyCreateRequest,
  ApiKeyCreateResponse,
  ApiKeyListResponse,
  ApiKeyResponse,
} from "@presage/contract";
import type { CallOptions, WriteOptions } from "../call.ts";
import type { Transport } from "../transport.ts";
import { underOneKey } from "../under-one-key.ts";
import { listAllPages } from "./list-all-pages.ts";

export interface ApiKeys {
  /** Lists all keys of the user, newest first, over all pages: `GET /v1/api-keys`. */
  list(options?: CallOptions): Promise<ApiKeyResponse[]>;
  /** Creates a key: `POST /v1/api-keys`. Only this response contains the key itself. */
  create(request: ApiKeyCreateRequest, options?: WriteOptions): Promise<ApiKeyCreateResponse>;
  /** Revokes a key for good: `DELETE /v1/api-keys/{id}`. */
  revoke(id: string, options?: CallOptions): Promise<void>;
}

const path = "/v1/api-keys";

export function apiKeys({ json }: Transport): ApiKeys {
  return {
    list: (options) =>
      listAllPages(
        (query) => json<ApiKeyListResponse>({ method: "GET", path, query, isRepeatable: true }, options),
        ({ data }) => data,
      ),
    create: (body, options) => json({ method: "POST", path, body, ...underOneKey(options) }, options),
    revoke: (id, options) =>
      json({ method: "DELETE", path: `${path}/${encodeURIComponent(id)}`, isRepeatable: true }, options),
  };
}
