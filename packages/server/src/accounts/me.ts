import type { MeResponse } from "@presage/contract";
import packageJson from "../../package.json" with { type: "json" };
import type { Services } from "../app/services.ts";
import { type Route, withCaller } from "../http/route.ts";
import { ServiceError } from "../platform/errors.ts";
import { selectUser } from "./users-store.ts";

export function meRoutes({ store, settings }: Services): Route[] {
  return [
    withCaller("GET", "/v1/me", "nothing", async ({ caller }) => {
      const user = await selectUser(store.database, caller.userId);
      if (user === undefined) throw new ServiceError("not_found", "The calling user no longer exists.");
      const { id, email, name, oidc_issuer, oidc_subject } = user;
      const { setting, maxAgeDays } = settings.capture;
      const capture = { setting, max_age_days: maxAgeDays };
      const server_version = packageJson.version;
      const me: MeResponse = {
        id,
        email,
        name,
        oidc_issuer,
        oidc_subject,
        role: user.role,
        capture,
        server_version,
      };
      return Response.json(me);
    }),
  ];
}
