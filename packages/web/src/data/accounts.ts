import { type Need, permissions } from "@presage/contract/permissions";
import type { AuditEventListQuery, Member, Presage, Role } from "@presage/sdk";
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { announceSignOut, signedInUserId, signOutKey } from "../session.ts";
import { pagedQuery, usePresage } from "./client.ts";

export const meQueryKey = ["me"];

/** The signed-in user and their account. */
export function meQuery(presage: Presage) {
  return queryOptions({
    queryKey: meQueryKey,
    async queryFn({ signal }) {
      const me = await presage.me({ signal });
      // Someone else has signed in, in another tab: drop everything from the previous session.
      if (me.id !== signedInUserId()) location.reload();
      return me;
    },
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: "always",
  });
}

/** The role of the signed-in user; undefined while loading. */
export function useRole(): Role | undefined {
  return useQuery(meQuery(usePresage())).data?.role;
}

/** Why the signed-in user may not do something; undefined if they may, or if that is not known yet. The server decides. */
export function useRefusal(need: Need): string | undefined {
  const role = useRole();
  if (role === undefined || permissions[need].roles.includes(role)) return undefined;
  return `Your role is ${role}. ${need === "manage" ? "Only owners may do this." : "An owner of your account can make you a member, who may do this."}`;
}

const membersKey = ["members"];

export function membersQuery(presage: Presage) {
  return queryOptions({ queryKey: membersKey, queryFn: ({ signal }) => presage.members.list({ signal }) });
}

/** Returns the names of users as far as they are visible: owners see all names, other users only their own. */
export function useUserNames(): (id: string) => string | undefined {
  const presage = usePresage();
  const { data: me } = useQuery(meQuery(presage));
  const { data: members } = useQuery({ ...membersQuery(presage), enabled: me?.role === "owner" });
  return useCallback(
    (id) =>
      members?.filter((one) => one.id === id).map(nameOfMember)[0] ?? (id === me?.id ? "you" : undefined),
    [me, members],
  );
}

export function useChangeRole() {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ id, role }: { id: string; role: Role }) => presage.members.update(id, { role }),
    // After a failure too: someone else may have made a change.
    onSettled: async () => {
      await queryClient.invalidateQueries({ queryKey: membersKey });
      // The change may affect the signed-in user.
      await queryClient.invalidateQueries({ queryKey: meQueryKey });
    },
  });
}

export function nameOfMember({ name, email, id }: Member): string {
  return name ?? email ?? id;
}

const auditPageSize = "100";

export type AuditFilter = Pick<AuditEventListQuery, "action" | "actor_user_id" | "object_id" | "from">;

/** Changes and who made them, newest first, page by page. */
export function auditEventsQuery(presage: Presage, filter: AuditFilter) {
  return pagedQuery(["audit-events", filter], ({ after, signal }) =>
    presage.auditEvents.list({ ...filter, limit: auditPageSize, after }, { signal }),
  );
}

const sessionsKey = ["sessions"];

export function sessionsQuery(presage: Presage) {
  return queryOptions({ queryKey: sessionsKey, queryFn: ({ signal }) => presage.sessions.list({ signal }) });
}

/** Ends sessions by their ids, then refreshes the list. */
export function useEndSessions({ onEnded, onRefreshed }: { onEnded(): void; onRefreshed(): void }) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async (ids: readonly string[]) => {
      await Promise.all(ids.map((id) => presage.sessions.end(id)));
    },
    // After a failure too: some sessions may have ended before one failed.
    onSettled: async () => {
      onEnded();
      await queryClient.invalidateQueries({ queryKey: sessionsKey });
      onRefreshed();
    },
  });
}

/** Ends this browser's session and clears what the tab stored for its user. */
export function useSignOut() {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationKey: signOutKey,
    async mutationFn() {
      // Pending reads would be refused, which also leads to the sign-in page, but as if the session had been lost.
      await queryClient.cancelQueries();
      return await presage.signOut();
    },
    onError: () => void queryClient.invalidateQueries(),
    onSuccess: ({ redirect_to }) => {
      sessionStorage.clear();
      announceSignOut();
      location.replace(redirect_to);
    },
  });
}
