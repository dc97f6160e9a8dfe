import type { AuditEvent } from "@presage/sdk";
import type { DataColumn } from "../../../ui/data-table/data-column.ts";
import { Time } from "../../../ui/time.tsx";
import { actionWords } from "./action-words.ts";

export const auditColumns: DataColumn<AuditEvent>[] = [
  {
    id: "time",
    label: "Time",
    value: ({ created_at }) => created_at,
    cell: ({ created_at }) => <Time at={created_at} />,
    widthPx: 136,
    isFixed: true,
  },
  {
    id: "action",
    label: "Action",
    value: ({ action }) => action,
    cell: ({ action }) => <span className="font-medium">{actionWords[action]}</span>,
    widthPx: 224,
    isFixed: true,
  },
  { id: "by", label: "By", value: actorOf, widthPx: 176 },
  {
    id: "detail",
    label: "What",
    value: describeDetail,
    widthPx: 220,
    isElastic: true,
    isWideOnly: true,
  },
  {
    id: "object",
    label: "Id",
    value: ({ object_id }) => object_id,
    cell: ({ object_id }) => <span className="font-mono text-xs">{object_id}</span>,
    widthPx: 200,
    isExtra: true,
  },
  { id: "request", label: "Request", value: ({ request_id }) => request_id, widthPx: 280, isExtra: true },
];

function actorOf({ actor: { kind, user_id, email, name }, names }: AuditEvent): string {
  const who = email ?? names[user_id ?? ""] ?? user_id ?? "unknown";
  if (kind === "command_line") return name === null ? "Command line" : `Command line (${name})`;
  return kind === "api_key" ? `${who}, key ${name}` : who;
}

/** `training · scopes: predict, read · user: Ada`: first what it was called then, or is now. */
function describeDetail({ object_id, detail: { name, ...detail }, names }: AuditEvent): string {
  const others = Object.entries(detail).flatMap(([field, value]) => {
    const shown = field.endsWith("_id") ? names[String(value)] : value;
    // An id without a name says nothing to people.
    if (shown === null || shown === undefined) return [];
    const label = field.replace(/_id$/, "").replaceAll("_", " ");
    return [`${label}: ${Array.isArray(shown) ? shown.join(", ") : shown}`];
  });
  return [name ?? names[object_id] ?? "", ...others].filter((part) => part !== "").join(" · ");
}
