import type { SessionListResponse, SessionResponse, SignOutResponse } from "@presage/contract";
import type { CallOptions } from "../call.ts";
import { listAllPages } from "../paging/list-all-pages.ts";
import type { Transport } from "../transport.ts";

export interface Sessions {
  /** Lists all browsers in which the user is signed in, newest first, over all pages: `GET /v1/sessions`. */
  list(options?: CallOptions): Promise<SessionResponse[]>;
  /** Signs a browser out: `DELETE /v1/sessions/{id}`. */
  end(id: string, options?: CallOptions): Promise<void>;
}

/** Ends the session of this call and returns where the page goes next: `POST /auth/sign-out`. Not with a key. */
export type SignOut = (options?: CallOptions) => Promise<SignOutResponse>;

const path = "/v1/sessions";

export function sessions({ json }: Transport): Sessions {
  return {
    list: (options) =>
      listAllPages((query) => json<SessionListResponse>({ method: "GET", path, query }, options)),
    end: (id, options) =>
      json({ method: "DELETE", path: `${path}/${encodeURIComponent(id)}`, isRepeatable: true }, options),
  };
}

export function signOut({ json }: Transport): SignOut {
  return (options) => json({ method: "POST", path: "/auth/sign-out" }, options);
}
