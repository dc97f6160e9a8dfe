import { z } from "zod";

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

/** Answer of `GET /v1/apps`: every app that has results, by name. */
export const AppListResponse = z
  .object({ apps: z.array(z.object({ name: z.string() })) })
  .meta({ id: "AppListResponse" });
export type AppListResponse = z.infer<typeof AppListResponse>;
