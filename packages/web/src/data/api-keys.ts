import type { ApiKeyCreateRequest, ApiKeyUpdateRequest, Presage } from "@presage/sdk";
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { usePresage } from "./client.ts";

const queryKey = ["api-keys"];

export function apiKeysQuery(presage: Presage) {
  return queryOptions({ queryKey, queryFn: ({ signal }) => presage.apiKeys.list({ signal }) });
}

/** An API key that was just created, with its secret. */
export interface NewKey {
  key: string;
  name: string;
}

export function useCreateApiKey({
  onCreated,
  onSuccess,
}: {
  onCreated(newKey: NewKey): void;
  onSuccess(): void;
}) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async (request: ApiKeyCreateRequest) => {
      // Not returned: the mutation cache keeps results for minutes, and the key must not be in it.
      const { key, name } = await presage.apiKeys.create(request);
      onCreated({ key, name });
    },
    onSuccess: () => {
      onSuccess();
      return queryClient.invalidateQueries({ queryKey });
    },
  });
}

export function useChangeKeySettings() {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ id, settings }: { id: string; settings: ApiKeyUpdateRequest }) =>
      presage.apiKeys.update(id, settings),
    onSuccess: () => queryClient.invalidateQueries({ queryKey }),
  });
}

export function useRevokeApiKey() {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => presage.apiKeys.revoke(id),
    onSuccess: () => queryClient.invalidateQueries({ queryKey }),
  });
}
