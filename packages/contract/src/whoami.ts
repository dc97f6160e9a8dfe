import { z } from "zod";
import { nextCursor, queryInteger } from "./query.ts";
import { storableText } from "./text.ts";

const credential = z.object({
  id: z.uuid(),
  account: z.object({ id: z.uuid(), name: z.string() }),
});

/** Response of `GET /v1/whoami`: the calling key or session, and its account. */
export const WhoAmIResponse = z
  .object({
    caller: z.object({
      api_key: credential.optional().meta({ description: "Present if the request was made with a key." }),
      session: credential.optional().meta({ description: "Present if the request was made with a session." }),
    }),
  })
  .meta({ id: "WhoAmIResponse" });
export type WhoAmIResponse = z.infer<typeof WhoAmIResponse>;

/** Query of `GET /v1/apps`. */
export const AppListQuery = z.object({
  limit: queryInteger({ minimum: 1, maximum: 1000 }).optional().meta({ default: 1000 }),
  after: storableText().optional().meta({ description: "The last name of the previous page." }),
});

/** Response of `GET /v1/apps`: the apps that have results, sorted by code point. */
export const AppListResponse = z
  .object({ apps: z.array(z.object({ name: z.string() })), next: nextCursor })
  .meta({ id: "AppListResponse" });
export type AppListResponse = z.infer<typeof AppListResponse>;
