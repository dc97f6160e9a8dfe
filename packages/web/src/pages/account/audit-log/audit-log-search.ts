import type { AuditAction } from "@presage/sdk";
import { readTableSearch, type TableSearch } from "../../../ui/data-table/table-search.ts";
import { isAuditAction } from "./action-words.ts";

/** What the address of the audit log says. */
export interface AuditLogSearch extends TableSearch {
  action?: AuditAction;
  /** The id of what was changed. */
  object?: string;
}

/** Reads the address; invalid values are ignored. */
export function readAuditLogSearch(search: Record<string, unknown>): AuditLogSearch {
  const { action, object } = search;
  return {
    ...readTableSearch(search),
    ...(typeof action === "string" && isAuditAction(action) && { action }),
    ...(typeof object === "string" && object !== "" && { object: object.slice(0, 200) }),
  };
}
