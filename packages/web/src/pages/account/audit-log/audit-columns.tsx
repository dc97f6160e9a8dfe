import type { AuditEvent } from "@presage/sdk";
import type { DataColumn } from "../../../ui/data-table/data-column.ts";
import { Time } from "../../../ui/time.tsx";
import { actionWords } from "./action-words.ts";

/** `nameOf` has the names of the account’s users by their ids. */
export const auditColumns = (nameOf: ReadonlyMap<string, string>): DataColumn<AuditEvent>[] => [
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
  { id: "by", label: "By", value: (event) => actorOf(event, nameOf), widthPx: 176 },
  {
    id: "detail",
    label: "What",
    value: ({ detail }) => describeDetail(detail),
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
    isWideOnly: true,
  },
  { id: "request", label: "Request", value: ({ request_id }) => request_id, widthPx: 280, isExtra: true },
];

function actorOf(
  { actor: { kind, user_id, email, name } }: AuditEvent,
  nameOf: ReadonlyMap<string, string>,
): string {
  const who = email ?? nameOf.get(user_id ?? "") ?? user_id ?? "unknown";
  if (kind === "command_line") return name === null ? "Command line" : `Command line (${name})`;
  return kind === "api_key" ? `${who}, key ${name}` : who;
}

/** `name: training, scopes: predict, read` */
function describeDetail(detail: AuditEvent["detail"]): string {
  return Object.entries(detail)
    .flatMap(([name, value]) =>
      value === null
        ? []
        : [`${name.replaceAll("_", " ")}: ${Array.isArray(value) ? value.join(", ") : value}`],
    )
    .join(" · ");
}
