import type { ApiKeyCreateRequest, ApiKeyUpdateRequest, Presage } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";
import { useChange } from "./client.ts";

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
  return useChange(
    queryKey,
    async (presage, request: ApiKeyCreateRequest) => {
      // The key is not returned: the mutation cache keeps results for minutes, and must not contain it.
      const { key, name } = await presage.apiKeys.create(request);
      onCreated({ key, name });
    },
    onSuccess,
  );
}

export function useChangeKeySettings() {
  return useChange(queryKey, (presage, { id, settings }: { id: string; settings: ApiKeyUpdateRequest }) =>
    presage.apiKeys.update(id, settings),
  );
}

/** Revokes keys by their ids. After a failure it can be repeated: revoking a key again changes nothing. */
export function useRevokeApiKeys() {
  return useChange(queryKey, async (presage, ids: readonly string[]) => {
    for (const id of ids) await presage.apiKeys.revoke(id);
  });
}
