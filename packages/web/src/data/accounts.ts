import { type Need, permissions } from "@presage/contract/permissions";
import type { AuditEvent, AuditEventListQuery, Member, Presage, Role } from "@presage/sdk";
import {
  infiniteQueryOptions,
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { flattenPages, usePresage } from "./client.ts";

export const meQueryKey = ["me"];

export function meQuery(presage: Presage) {
  return queryOptions({
    queryKey: meQueryKey,
    queryFn: ({ signal }) => presage.me({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

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

const membersKey = ["members"];

export function membersQuery(presage: Presage) {
  return queryOptions({ queryKey: membersKey, queryFn: ({ signal }) => presage.members.list({ signal }) });
}

export function useChangeRole() {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ id, role }: { id: string; role: Role }) => presage.members.update(id, { role }),
    // On failure too: someone else may have changed it.
    onSettled: async () => {
      await queryClient.invalidateQueries({ queryKey: membersKey });
      // It may be the user's own.
      await queryClient.invalidateQueries({ queryKey: meQueryKey });
    },
  });
}

export function nameOf({ name, email, id }: Member): string {
  return name ?? email ?? id;
}

const pageSize = "100";

export type AuditFilter = Pick<AuditEventListQuery, "action" | "actor_user_id" | "object_id">;

/** Who changed what, newest first, page by page. */
export function auditEventsQuery(presage: Presage, filter: AuditFilter) {
  return infiniteQueryOptions({
    queryKey: ["audit-events", filter],
    queryFn: ({ pageParam, signal }) =>
      presage.auditEvents.list({ ...filter, limit: pageSize, after: pageParam }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }): string | undefined => next ?? undefined,
    select: flattenPages<AuditEvent>,
  });
}
