import type { Presage } from "@presage/sdk";
import { queryOptions, useMutation } from "@tanstack/react-query";
import { announceSignOut } from "../session/sign-out.ts";
import { usePresage } from "./use-presage.ts";

export function sessionsQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["sessions"],
    queryFn: ({ signal }) => presage.sessions.list({ signal }),
  });
}

/** Ends the session, and forgets what the tab kept for its user. */
export function useSignOut() {
  const presage = usePresage();
  return useMutation({
    mutationFn: () => presage.signOut(),
    onSuccess: ({ redirect_to }) => {
      sessionStorage.clear();
      announceSignOut();
      location.replace(redirect_to);
    },
  });
}
