import { z } from "zod";
import { CaptureSetting } from "../prediction/stored-prediction.ts";
import { listOf, pageQuery } from "../query.ts";
import { dateTime, instant, shortText, string } from "../text.ts";
import { KeyScope, scopesField } from "./user.ts";

const maxKeyLimit = 1_000_000_000;
const keyLimit = z.int().min(1).max(maxKeyLimit);

/** A key's own limits and capture setting. The server's apply where they are null or absent. */
const keySettings = {
  rate_limit_rpm: keyLimit.nullish().meta({
    description:
      "Requests per minute with this key; predictions and evaluations are counted separately. If null, the server's limit.",
  }),
  max_in_flight: keyLimit.nullish().meta({
    description:
      "Concurrent requests with this key to one server; its workers divide the limit, and each allows at least 1. Several servers count separately, as do predictions and evaluations. If null, the server's limit.",
  }),
  capture: CaptureSetting.nullish().meta({
    description:
      "Which predictions with this key are stored, for `GET /v1/predictions`: `off`, `failures`, `all`, or a share from 0 to 1. If null, the server's setting.",
  }),
};

/** Body of `POST /v1/api-keys`. */
export const ApiKeyCreateRequest = z
  .object({
    name: shortText(120).meta({ description: "What the key is for, as shown in lists." }),
    expires_at: dateTime().nullish().meta({
      description: "When the key stops working. UTC if no offset is given; a date alone is its midnight.",
    }),
    ...keySettings,
    scopes: z.array(KeyScope).min(1).max(KeyScope.options.length).nullish().meta({
      description:
        "What the key may do, within its user's role: `predict`; `evaluate`, also datasets, runs and environments; `read`; `manage` keys, and for owners the account. They cannot be changed later. If null, everything that the user may do.",
    }),
  })
  .meta({ id: "ApiKeyCreateRequest" });
export type ApiKeyCreateRequest = z.infer<typeof ApiKeyCreateRequest>;

/** Body of `PATCH /v1/api-keys/{key_id}`. Absent fields stay as they are. */
export const ApiKeyUpdateRequest = z.strictObject(keySettings).meta({ id: "ApiKeyUpdateRequest" });
export type ApiKeyUpdateRequest = z.infer<typeof ApiKeyUpdateRequest>;

/** A key without its secret. */
export const ApiKeyResponse = z
  .object({
    id: z.uuid().meta({ description: "The key's id. It is not secret." }),
    user_id: z.uuid().optional().meta({ description: "The user whom the key belongs to and acts as." }),
    name: string("What the key is for."),
    prefix: string("The key's first 8 characters."),
    last_four: string("The key's last 4 characters."),
    created_at: instant.meta({ description: "When the key was created." }),
    expires_at: instant
      .nullable()
      .optional()
      .meta({ description: "When the key stops working; null if never." }),
    revoked_at: instant
      .nullable()
      .optional()
      .meta({ description: "When the key was revoked; null if it was not." }),
    last_used_at: instant.nullable().optional().meta({
      description: "When the key was last used, accurate to about 10 s; null if never.",
    }),
    ...keySettings,
    scopes: scopesField.optional(),
  })
  .meta({ id: "ApiKeyResponse" });
export type ApiKeyResponse = z.infer<typeof ApiKeyResponse>;

/** Response of `POST /v1/api-keys`, the only one with the full key. */
export const ApiKeyCreateResponse = ApiKeyResponse.extend({
  key: string("The full key. It is shown only once."),
}).meta({ id: "ApiKeyCreateResponse" });
export type ApiKeyCreateResponse = z.infer<typeof ApiKeyCreateResponse>;

/** Query of `GET /v1/api-keys`. */
export const ApiKeyListQuery = z.object(pageQuery());

/** Response of `GET /v1/api-keys`. */
export const ApiKeyListResponse = listOf("ApiKeyListResponse", ApiKeyResponse, "Newest first.");

/** Path parameters of one key. */
export const ApiKeyPath = z.object({
  key_id: z.guid().meta({
    format: "uuid",
    description: "The key's id.",
    examples: ["01a2015d-17f6-75b4-a7a7-ccd9f62a3a59"],
  }),
});
