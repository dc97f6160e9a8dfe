import {
  Member,
  MemberListQuery,
  MemberListResponse,
  MemberPath,
  MemberUpdateRequest,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { body, errorResponse, noSuch, operation, page, response } from "../http/describe.ts";

const exampleMember: Member = {
  id: "01a2015d-17ca-76a5-aa4f-c26a65d9cd6e",
  email: "sam@example.com",
  name: "Sam Doe",
  role: "member",
  created_at: "2026-11-22T03:46:47.926Z",
};

export const memberPaths: ZodOpenApiPathsObject = {
  "/v1/members": {
    get: operation("listMembers", "dashboard", "List the users of the account", {
      description: "Lists the users of the caller's account with their roles. For owners.",
      requestParams: { query: MemberListQuery },
      responses: {
        "200": response("The users, newest first", MemberListResponse, page(exampleMember)),
      },
    }),
  },
  "/v1/members/{user_id}": {
    patch: operation("updateMember", "dashboard", "Change the role of a user", {
      description:
        "Changes the role of a user of the caller's account. For owners. It takes effect at the next request, for the user's keys too; in other servers on the same database within 5 s.",
      requestParams: { path: MemberPath },
      requestBody: body(MemberUpdateRequest, { role: "viewer" }),
      responses: {
        "200": response("The user", Member, { ...exampleMember, role: "viewer" }),
        ...noSuch("user"),
        "409": errorResponse(
          "The user is the last owner who can sign in",
          "No one else who can sign in is an owner of this account. Make someone else an owner first.",
        ),
      },
    }),
  },
};
