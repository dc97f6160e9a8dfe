import type { MeResponse, WhoAmIResponse } from "@presage/contract";
import type { CallOptions } from "../call.ts";
import type { Transport } from "../transport.ts";

/** Gets the user of the key or session: `GET /v1/me`. */
export type Me = (options?: CallOptions) => Promise<MeResponse>;

/** Gets the key or session of this call, and its account: `GET /v1/whoami`. */
export type WhoAmI = (options?: CallOptions) => Promise<WhoAmIResponse["caller"]>;

export function me({ json }: Transport): Me {
  return (options) => json({ method: "GET", path: "/v1/me" }, options);
}

export function whoAmI({ json }: Transport): WhoAmI {
  return async (options) => {
    return (await json<WhoAmIResponse>({ method: "GET", path: "/v1/whoami" }, options)).caller;
  };
}
