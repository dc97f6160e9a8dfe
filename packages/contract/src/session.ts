import { z } from "zod";
import { nextCursor, pageQuery } from "./query.ts";

const instant = z.iso.datetime({ offset: true });

/** A browser in which the calling user is signed in. */
export const SessionResponse = z
  .object({
    id: z.uuid(),
    user_agent: z.string().nullable().meta({
      description: "What the browser called itself at sign-in, at most 200 characters of it.",
    }),
    created_at: instant,
    last_seen_at: instant.meta({ description: "Right to about a minute." }),
    expires_at: instant.meta({ description: "When it ends, however much it is used." }),
    is_current: z.boolean().meta({ description: "Whether it is the session that asks." }),
  })
  .meta({ id: "SessionResponse" });
export type SessionResponse = z.infer<typeof SessionResponse>;

/** Query of `GET /v1/sessions`. */
export const SessionListQuery = z.object(pageQuery({ maximum: 1000, default: 1000 }));

/** Answer of `GET /v1/sessions`. */
export const SessionListResponse = z
  .object({ data: z.array(SessionResponse).meta({ description: "Newest first." }), next: nextCursor })
  .meta({ id: "SessionListResponse" });
export type SessionListResponse = z.infer<typeof SessionListResponse>;

/** Path of one session. */
export const SessionPath = z.object({ session_id: z.guid().meta({ format: "uuid" }) });

/** Answer of `POST /auth/sign-out`. */
export const SignOutResponse = z
  .object({
    redirect_to: z.string().meta({
      description:
        "Where the browser goes next: to the identity provider, to sign out there too, or to the sign-in page.",
    }),
  })
  .meta({ id: "SignOutResponse" });
export type SignOutResponse = z.infer<typeof SignOutResponse>;
