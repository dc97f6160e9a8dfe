import { useMutation } from "@tanstack/react-query";
import { usePresage } from "../data/use-presage.ts";

/** Ends the session, and forgets what the tab kept for its user. */
export function useSignOut() {
  const presage = usePresage();
  return useMutation({
    mutationFn: () => presage.signOut(),
    onSuccess: ({ redirect_to }) => {
      sessionStorage.clear();
      location.replace(redirect_to);
    },
  });
}
