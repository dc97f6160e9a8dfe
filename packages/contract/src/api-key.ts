import { z } from "zod";
import { nextCursor, pageQuery } from "./query.ts";
import { shortText } from "./text.ts";

const instant = z.iso.datetime({ offset: true });

/** Body of `POST /v1/api-keys`. */
export const ApiKeyCreateRequest = z
  .object({
    name: shortText(120),
    expires_at: z.iso.datetime({ offset: true, local: true }).nullish().meta({
      description: "When the key stops working. UTC if no offset is given.",
    }),
  })
  .meta({ id: "ApiKeyCreateRequest" });
export type ApiKeyCreateRequest = z.infer<typeof ApiKeyCreateRequest>;

/** A key without its secret. */
export const ApiKeyResponse = z
  .object({
    id: z.uuid(),
    name: z.string(),
    prefix: z.string().meta({ description: "The key's first 8 characters." }),
    last_four: z.string().meta({ description: "The key's last 4 characters." }),
    created_at: instant,
    expires_at: instant.nullable().optional(),
    revoked_at: instant.nullable().optional(),
    last_used_at: instant.nullable().optional().meta({ description: "Accurate to about 10 s." }),
  })
  .meta({ id: "ApiKeyResponse" });
export type ApiKeyResponse = z.infer<typeof ApiKeyResponse>;

/** Response of `POST /v1/api-keys`, the only one with the full key. */
export const ApiKeyCreateResponse = ApiKeyResponse.extend({
  key: z.string().meta({ description: "The full key. It is shown only once." }),
}).meta({ id: "ApiKeyCreateResponse" });
export type ApiKeyCreateResponse = z.infer<typeof ApiKeyCreateResponse>;

/** Query of `GET /v1/api-keys`. */
export const ApiKeyListQuery = z.object(pageQuery({ maximum: 1000, default: 1000 }));

export const ApiKeyListResponse = z
  .object({ data: z.array(ApiKeyResponse).meta({ description: "Newest first." }), next: nextCursor })
  .meta({ id: "ApiKeyListResponse" });
export type ApiKeyListResponse = z.infer<typeof ApiKeyListResponse>;

/** Path parameters of one key. */
export const ApiKeyPath = z.object({ key_id: z.guid().meta({ format: "uuid" }) });
