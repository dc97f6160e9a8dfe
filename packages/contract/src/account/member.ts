import { z } from "zod";
import { defaultPageLimit, nextCursor, pageQuery } from "../query.ts";
import { Role } from "./role.ts";

const instant = z.iso.datetime({ offset: true });

/** A user of the account. */
export const Member = z
  .object({
    id: z.uuid().meta({ description: "The user's id." }),
    email: z.string().nullable().meta({ description: "As the identity provider last reported it." }),
    name: z.string().nullable().meta({ description: "As the identity provider last reported it." }),
    role: Role.meta({ description: "What the user, and each of their keys, may do at most." }),
    created_at: instant.meta({ description: "When the user first signed in, or was added." }),
  })
  .meta({ id: "Member" });
export type Member = z.infer<typeof Member>;

/** Query of `GET /v1/members`. */
export const MemberListQuery = z.object(pageQuery({ maximum: 1000, default: defaultPageLimit }));

export const MemberListResponse = z
  .object({ data: z.array(Member).meta({ description: "Newest first." }), next: nextCursor })
  .meta({ id: "MemberListResponse" });
export type MemberListResponse = z.infer<typeof MemberListResponse>;

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
  .strictObject({ role: Role.meta({ description: "The new role. It holds from the next request on." }) })
  .meta({ id: "MemberUpdateRequest" });
export type MemberUpdateRequest = z.infer<typeof MemberUpdateRequest>;
