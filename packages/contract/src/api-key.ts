import { z } from "zod";

const instant = z.iso.datetime({ offset: true });
const maxNameCharacters = 120;

/** Characters are Unicode code points, as JSON Schema and pydantic count them; zod's own `max` counts UTF-16 units. */
const keyName = z
  .string()
  .min(1)
  .check(({ value, issues }) => {
    if ([...value].length <= maxNameCharacters) return;
    issues.push({
      code: "too_big",
      origin: "string",
      maximum: maxNameCharacters,
      inclusive: true,
      input: value,
    });
  })
  .meta({ maxLength: maxNameCharacters });

/** Body of `POST /v1/api-keys`. */
export const ApiKeyCreateRequest = z
  .object({
    name: keyName,
    expires_at: z.iso.datetime({ offset: true, local: true }).nullish().meta({
      description: "When the key stops working; without an offset it is read as UTC.",
    }),
  })
  .meta({ id: "ApiKeyCreateRequest" });
export type ApiKeyCreateRequest = z.infer<typeof ApiKeyCreateRequest>;

/** A key as it is listed: the key itself is not among its fields. */
export const ApiKeyResponse = z
  .object({
    id: z.uuid(),
    name: z.string(),
    prefix: z.string().meta({ description: "The key's first 8 characters." }),
    last_four: z.string().meta({ description: "The key's last 4 characters." }),
    created_at: instant,
    expires_at: instant.nullable().optional(),
    revoked_at: instant.nullable().optional(),
    last_used_at: instant.nullable().optional().meta({ description: "Right to about 10 s." }),
  })
  .meta({ id: "ApiKeyResponse" });
export type ApiKeyResponse = z.infer<typeof ApiKeyResponse>;

/** Answer of `POST /v1/api-keys`: the only one that carries the key. */
export const ApiKeyCreateResponse = ApiKeyResponse.extend({
  key: z.string().meta({ description: "The full key. It is not shown again." }),
}).meta({ id: "ApiKeyCreateResponse" });
export type ApiKeyCreateResponse = z.infer<typeof ApiKeyCreateResponse>;

export const ApiKeyListResponse = z
  .object({ data: z.array(ApiKeyResponse).meta({ description: "Newest first." }) })
  .meta({ id: "ApiKeyListResponse" });
export type ApiKeyListResponse = z.infer<typeof ApiKeyListResponse>;

/** Path of one key. */
export const ApiKeyPath = z.object({ key_id: z.guid().meta({ format: "uuid" }) });
