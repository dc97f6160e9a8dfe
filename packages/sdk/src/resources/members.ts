import type { Member, MemberListResponse, MemberUpdateRequest } from "@presage/contract";
import type { CallOptions } from "../call.ts";
import { listAllPages } from "../paging/list-all-pages.ts";
import type { Transport } from "../transport.ts";

/** The users of the account. For owners. */
export interface Members {
  /** Lists all users, newest first, over all pages: `GET /v1/members`. */
  list(options?: CallOptions): Promise<Member[]>;
  /** Changes a user's role, from their next request on: `PATCH /v1/members/{id}`. */
  update(id: string, request: MemberUpdateRequest, options?: CallOptions): Promise<Member>;
}

const path = "/v1/members";

export function members({ json }: Transport): Members {
  return {
    list: (options) =>
      listAllPages((query) => json<MemberListResponse>({ method: "GET", path, query }, options)),
    update: (id, body, options) =>
      json({ method: "PATCH", path: `${path}/${encodeURIComponent(id)}`, body, isRepeatable: true }, options),
  };
}
