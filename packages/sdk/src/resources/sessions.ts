import type { SessionListResponse, SessionResponse, SignOutResponse } from "@presage/contract";
import type { CallOptions } from "../call.ts";
import type { Transport } from "../transport.ts";

export interface Sessions {
  /** The browsers in which the user is signed in, newest first: `GET /v1/sessions`. */
  list(options?: CallOptions): Promise<SessionResponse[]>;
  /** Signs a browser out: `DELETE /v1/sessions/{id}`. */
  end(id: string, options?: CallOptions): Promise<void>;
}

/** Ends the session that asks and says where the page goes next: `POST /auth/sign-out`. Not with a key. */
export type SignOut = (options?: CallOptions) => Promise<SignOutResponse>;

const path = "/v1/sessions";

export function sessions({ json }: Transport): Sessions {
  return {
    async list(options) {
      return (await json<SessionListResponse>({ method: "GET", path, isRepeatable: true }, options)).data;
    },
    end: (id, options) =>
      json({ method: "DELETE", path: `${path}/${encodeURIComponent(id)}`, isRepeatable: true }, options),
  };
}

export function signOut({ json }: Transport): SignOut {
  return (options) => json({ method: "POST", path: "/auth/sign-out", isRepeatable: false }, options);
}
