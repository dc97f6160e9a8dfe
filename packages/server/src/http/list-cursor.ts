import { defaultPageLimit } from "@presage/contract";
import type { Keyset, KeysetPage } from "../platform/storage/lists.ts";

/** The page that a query with `limit` and `after`, both checked by its schema, asks for. */
export function readKeysetPage({
  limit,
  after,
}: {
  limit?: string | undefined;
  after?: string | undefined;
}): KeysetPage {
  const [createdAt, id] = after?.split(".") ?? [];
  return {
    limit: Number(limit ?? defaultPageLimit),
    after: createdAt === undefined || id === undefined ? undefined : { createdAt: Number(createdAt), id },
  };
}

export function toCursor(next: Keyset | undefined): string | null {
  return next === undefined ? null : `${next.createdAt}.${next.id}`;
}
