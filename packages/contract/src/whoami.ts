import { z } from "zod";
import { nextCursor, queryInteger } from "./query.ts";
import { storableText } from "./text.ts";

const credential = z.object({
  id: z.uuid(),
  account: z.object({ id: z.uuid(), name: z.string() }),
});

/** Answer of `GET /v1/whoami`: the key or the session that asks, and the account that it belongs to. */
export const WhoAmIResponse = z
  .object({
    caller: z.object({
      api_key: credential.optional().meta({ description: "There if a key asks." }),
      session: credential.optional().meta({ description: "There if a browser's session asks." }),
    }),
  })
  .meta({ id: "WhoAmIResponse" });
export type WhoAmIResponse = z.infer<typeof WhoAmIResponse>;

/** Query of `GET /v1/apps`. */
export const AppListQuery = z.object({
  limit: queryInteger({ minimum: 1, maximum: 1000 }).optional().meta({ default: 1000 }),
  after: storableText().optional().meta({ description: "A name: those that follow it are listed." }),
});

/** Answer of `GET /v1/apps`: the apps that have results, in the order of their names' characters. */
export const AppListResponse = z
  .object({ apps: z.array(z.object({ name: z.string() })), next: nextCursor })
  .meta({ id: "AppListResponse" });
export type AppListResponse = z.infer<typeof AppListResponse>;
