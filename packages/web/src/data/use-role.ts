import type { Role } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { meQuery } from "./me.ts";
import { usePresage } from "./use-presage.ts";

/** What a page lets somebody do besides reading. */
export type Need = "predict" | "evaluate" | "manage";

const rolesFor: Record<Need, readonly Role[]> = {
  predict: ["owner", "member"],
  evaluate: ["owner", "member"],
  manage: ["owner"],
};

/** The role of the signed-in user; undefined while loading. */
export function useRole(): Role | undefined {
  return useQuery(meQuery(usePresage())).data?.role;
}

/** Why the signed-in user may not do something; undefined if they may, or nobody knows yet. The server decides. */
export function useRefusal(need: Need): string | undefined {
  const role = useRole();
  if (role === undefined || rolesFor[need].includes(role)) return undefined;
  return `Your role is ${role}. ${need === "manage" ? "Only owners may do this." : "An owner of your account can make you a member, who may do this."}`;
}
