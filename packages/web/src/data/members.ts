import type { Member, Presage, Role } from "@presage/sdk";
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { meQueryKey } from "./me.ts";
import { usePresage } from "./use-presage.ts";

const queryKey = ["members"];

export function membersQuery(presage: Presage) {
  return queryOptions({ queryKey, queryFn: ({ signal }) => presage.members.list({ signal }) });
}

export function useChangeRole() {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ id, role }: { id: string; role: Role }) => presage.members.update(id, { role }),
    // On failure too: someone else may have changed it.
    onSettled: async () => {
      await queryClient.invalidateQueries({ queryKey });
      // It may be the user's own.
      await queryClient.invalidateQueries({ queryKey: meQueryKey });
    },
  });
}

export function nameOf({ name, email, id }: Member): string {
  return name ?? email ?? id;
}
