import { z } from "zod";
import { defaultPageLimit, nextCursor, pageQuery } from "../query.ts";

const instant = z.iso.datetime({ offset: true });

/** A browser in which the calling user is signed in. */
export const SessionResponse = z
  .object({
    id: z.uuid().meta({ description: "The session's id. It is not secret." }),
    user_agent: z.string().nullable().meta({
      description: "The browser's User-Agent at sign-in, up to 200 characters.",
    }),
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
export const SessionListQuery = z.object(pageQuery({ maximum: 1000, default: defaultPageLimit }));

/** Response of `GET /v1/sessions`. */
export const SessionListResponse = z
  .object({ data: z.array(SessionResponse).meta({ description: "Newest first." }), next: nextCursor })
  .meta({ id: "SessionListResponse" });
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
    redirect_to: z.string().meta({
      description:
        "Where to send the browser next: to the identity provider, to sign out there too, or to the sign-in page.",
    }),
  })
  .meta({ id: "SignOutResponse" });
export type SignOutResponse = z.infer<typeof SignOutResponse>;
