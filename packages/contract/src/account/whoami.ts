import { z } from "zod";
import { defaultPageLimit, nextCursor, pageFields } from "../query.ts";
import { storableText } from "../text.ts";
import { roleField, scopesField } from "./role.ts";

const credential = z.object({
  id: z.uuid().meta({ description: "The key's or session's id." }),
  account: z
    .object({
      id: z.uuid().meta({ description: "The account's id." }),
      name: z.string().meta({ description: "The account's name." }),
    })
    .meta({ description: "The account that it belongs to." }),
  role: roleField,
});

/** Response of `GET /v1/whoami`: the calling key or session, and its account. */
export const WhoAmIResponse = z
  .object({
    caller: z
      .object({
        api_key: credential
          .extend({ scopes: scopesField })
          .optional()
          .meta({ description: "Present if the request was made with a key." }),
        session: credential
          .optional()
          .meta({ description: "Present if the request was made with a session." }),
      })
      .meta({ description: "What authenticated the request." }),
  })
  .meta({ id: "WhoAmIResponse" });
export type WhoAmIResponse = z.infer<typeof WhoAmIResponse>;

/** Query of `GET /v1/apps`. */
export const AppListQuery = z.object({
  ...pageFields(defaultPageLimit),
  after: storableText().optional().meta({
    description:
      "The last name of the previous page. Unlike `offset`, it stays fast however many apps there are.",
  }),
});

/** Response of `GET /v1/apps`: the apps that have results, sorted by code point. */
export const AppListResponse = z
  .object({
    apps: z
      .array(z.object({ name: z.string().meta({ description: "The app's name, as results have it." }) }))
      .meta({ description: "The apps." }),
    next: nextCursor,
  })
  .meta({ id: "AppListResponse" });
export type AppListResponse = z.infer<typeof AppListResponse>;
