import { z } from "zod";
import { CaptureSetting } from "../prediction/stored-prediction.ts";
import { listOf, pageQuery } from "../query.ts";
import { count, instant, string, stringOrNull } from "../text.ts";
import { keyScopes, roles } from "./permissions.ts";

/** What a user may do in their account. */
export const Role = z.enum(roles);
export type Role = z.infer<typeof Role>;

/** What an API key may do, at most. */
export const KeyScope = z.enum(keyScopes);
export type KeyScope = z.infer<typeof KeyScope>;

/** The scopes of a key without repetitions, in a stable order. */
export function toKeyScopes(scopes: readonly KeyScope[]): KeyScope[] {
  return KeyScope.options.filter((scope) => scopes.includes(scope));
}

const descriptionOfRole =
  "`owner`: may do everything; `member`: may predict, evaluate and read; `viewer`: may read. The role at the time of the request counts, whatever the key was given.";

/** The role of the caller's user, in responses. */
export const roleField = Role.meta({ description: descriptionOfRole });

/** What the calling key may do, in responses. */
export const scopesField = z.array(KeyScope).nullable().meta({
  description: "What the key may do, within its user's role; null for everything that the role may do.",
});

/** Response of `GET /v1/me`: the user that the caller's credential belongs to. */
export const MeResponse = z
  .object({
    id: z.uuid().meta({ description: "The user's id." }),
    email: z.string().nullable().optional().meta({
      description: "As the identity provider last reported it; null if it did not.",
    }),
    name: z.string().nullable().optional().meta({
      description: "As the identity provider last reported it; null if it did not.",
    }),
    oidc_issuer: string("The identity provider; urn:presage:local in local mode."),
    oidc_subject: string("The user's subject (sub) at the identity provider."),
    role: roleField,
    capture: z
      .object({
        setting: CaptureSetting.meta({
          description: "Which predictions are stored, unless their API key has its own setting.",
        }),
        max_age_days: count("After how many days they are deleted."),
      })
      .meta({ description: "What this server keeps of predictions." }),
    server_version: string("The version of this server, as in its changelog."),
  })
  .meta({ id: "MeResponse" });
export type MeResponse = z.infer<typeof MeResponse>;

const credential = z.object({
  id: z.uuid().meta({ description: "The key's or session's id." }),
  account: z
    .object({
      id: z.uuid().meta({ description: "The account's id." }),
      name: string("The account's name."),
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

/** A user of the account. */
export const Member = z
  .object({
    id: z.uuid().meta({ description: "The user's id." }),
    email: stringOrNull("As the identity provider last reported it."),
    name: stringOrNull("As the identity provider last reported it."),
    role: Role.meta({ description: "The most that the user, and each of their keys, may do." }),
    created_at: instant.meta({ description: "When the user first signed in, or was added." }),
    last_seen_at: instant.nullable().optional().meta({
      description:
        "When the user last used the dashboard or one of their keys, accurate to about a minute; null if never.",
    }),
    active_keys: z
      .int()
      .optional()
      .meta({ description: "The user's keys that are neither revoked nor expired." }),
  })
  .meta({ id: "Member" });
export type Member = z.infer<typeof Member>;

/** Query of `GET /v1/members`. */
export const MemberListQuery = z.object(pageQuery());

/** Response of `GET /v1/members`. */
export const MemberListResponse = listOf("MemberListResponse", Member, "Newest first.");

/** Path parameters of one member. */
export const MemberPath = z.object({
  user_id: z.guid().meta({
    format: "uuid",
    description: "The user's id.",
    examples: ["01a2015d-17ca-76a5-aa4f-c26a65d9cd6e"],
  }),
});

/** Body of `PATCH /v1/members/{user_id}`. */
export const MemberUpdateRequest = z
  .strictObject({ role: Role.meta({ description: "The new role. It applies from the next request on." }) })
  .meta({ id: "MemberUpdateRequest" });
export type MemberUpdateRequest = z.infer<typeof MemberUpdateRequest>;

/** A browser in which the calling user is signed in. */
export const SessionResponse = z
  .object({
    id: z.uuid().meta({ description: "The session's id. It is not secret." }),
    user_agent: stringOrNull("The browser's User-Agent at sign-in, up to 200 characters."),
    created_at: instant.meta({ description: "When the browser signed in." }),
    last_seen_at: instant.meta({
      description: "When the session was last used, accurate to about a minute.",
    }),
    expires_at: instant.meta({ description: "Absolute end of the session, even if it is used." }),
    is_current: z.boolean().meta({ description: "Whether the request was made with this session." }),
  })
  .meta({ id: "SessionResponse" });
export type SessionResponse = z.infer<typeof SessionResponse>;

/** Query of `GET /v1/sessions`. */
export const SessionListQuery = z.object(pageQuery());

/** Response of `GET /v1/sessions`. */
export const SessionListResponse = listOf("SessionListResponse", SessionResponse, "Newest first.");
export type SessionListResponse = z.infer<typeof SessionListResponse>;

/** Path parameters of one session. */
export const SessionPath = z.object({
  session_id: z.guid().meta({
    format: "uuid",
    description: "The session's id.",
    examples: ["01a2015d-18b1-7c1e-9d37-5e0c6b1f42aa"],
  }),
});

/** Response of `POST /auth/sign-out`. */
export const SignOutResponse = z
  .object({
    redirect_to: string(
      "Where to send the browser next: to the identity provider, to sign out there too, or to the sign-in page.",
    ),
  })
  .meta({ id: "SignOutResponse" });
export type SignOutResponse = z.infer<typeof SignOutResponse>;
