import { type Need, permissions } from "@presage/contract/permissions";
import type { Role } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { meQuery } from "./me.ts";
import { usePresage } from "./use-presage.ts";

/** The role of the signed-in user; undefined while loading. */
export function useRole(): Role | undefined {
  return useQuery(meQuery(usePresage())).data?.role;
}

/** Why the signed-in user may not do something; undefined if they may, or it is not known yet. The server decides. */
export function useRefusal(need: Need): string | undefined {
  const role = useRole();
  if (role === undefined || permissions[need].roles.includes(role)) return undefined;
  return `Your role is ${role}. ${need === "manage" ? "Only owners may do this." : "An owner of your account can make you a member, who may do this."}`;
}
