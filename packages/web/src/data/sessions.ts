import type { Presage } from "@presage/sdk";
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { announceSignOut, signOutKey } from "../session.ts";
import { usePresage } from "./client.ts";

const queryKey = ["sessions"];

export function sessionsQuery(presage: Presage) {
  return queryOptions({ queryKey, queryFn: ({ signal }) => presage.sessions.list({ signal }) });
}

/** Ends sessions by their ids, then refreshes the list. */
export function useEndSessions({ onEnded, onRefreshed }: { onEnded(): void; onRefreshed(): void }) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async (ids: readonly string[]) => {
      await Promise.all(ids.map((id) => presage.sessions.end(id)));
    },
    // On failure too: some may have ended although another one failed.
    onSettled: async () => {
      onEnded();
      await queryClient.invalidateQueries({ queryKey });
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
      // What is still being read would be refused, which leads to the sign-in page as well, but as if the session had been lost.
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
