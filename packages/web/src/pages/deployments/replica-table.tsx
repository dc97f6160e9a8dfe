import type { DeploymentStatus } from "@presage/sdk";
import { clsx } from "clsx";
import { formatCount, formatDuration, formatShare } from "../../format/numbers.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";

type Replica = NonNullable<DeploymentStatus["replicas"]>[number];

/** Their widths are fixed, so that the tables of several deployments line up. */
const columns: { name: string; title?: string; isNumber?: boolean; width: string }[] = [
  { name: "Replica", width: "w-[16%]" },
  {
    name: "State",
    width: "w-[10%]",
    title: "An ejected replica failed three times in a row and is left out for a while",
  },
  { name: "In flight", width: "w-[8%]", title: "Requests in flight", isNumber: true },
  { name: "Limit", width: "w-[7%]", title: "Maximum requests in flight; a 429 halves it", isNumber: true },
  { name: "p50", width: "w-[8%]", title: "Median latency of its last 256 answers", isNumber: true },
  {
    name: "p99",
    width: "w-[9%]",
    title: "99th percentile of the latency of its last 256 answers",
    isNumber: true,
  },
  {
    name: "Prefix",
    width: "w-[8%]",
    title: "Share of its requests whose prefix it most likely has cached",
    isNumber: true,
  },
  {
    name: "Errors",
    width: "w-[12%]",
    title: "Share of the tries of the last 5 minutes that the replica failed",
    isNumber: true,
  },
  { name: "Ejections", width: "w-[8%]", title: "Since the process started", isNumber: true },
  { name: "Last failure", width: "w-auto" },
];

export function ReplicaTable({ deployment, replicas }: { deployment: string; replicas: readonly Replica[] }) {
  return (
    <Table label={`Replicas of ${deployment}`} className="min-w-232 table-fixed">
      <thead>
        <tr className="border-b border-line">
          {columns.map(({ name, title, width, isNumber = false }) => (
            <HeaderCell key={name} isNumber={isNumber} className={width}>
              <span title={title}>{name}</span>
            </HeaderCell>
          ))}
        </tr>
      </thead>
      <tbody>
        {replicas.map((replica) => (
          <ReplicaRow key={replica.url} replica={replica} />
        ))}
      </tbody>
    </Table>
  );
}

const none = <span className="text-ink-3">–</span>;

function ReplicaRow({ replica }: { replica: Replica }) {
  const { url, state, in_flight, limit, latency_ms, prefix_share, ejections, last_failure, recent } = replica;
  return (
    <tr className="h-11 border-b border-line whitespace-nowrap text-ink-2 last:border-b-0 [&>th]:text-ink">
      <RowHeader className="font-mono text-xs">
        <span className="block truncate" title={url}>
          {url.replace(/^https?:\/\//, "")}
        </span>
      </RowHeader>
      <Cell>
        <StateBadge state={state} />
      </Cell>
      <Cell isNumber>{formatCount(in_flight)}</Cell>
      <Cell isNumber>{limit === null ? "none" : formatCount(limit)}</Cell>
      <Cell isNumber>{latency_ms === null ? none : formatDuration(latency_ms.p50)}</Cell>
      <Cell isNumber>{latency_ms === null ? none : formatDuration(latency_ms.p99)}</Cell>
      <Cell isNumber>{prefix_share === null ? none : formatShare(prefix_share)}</Cell>
      <Cell isNumber className={clsx(recent.failed > 0 && "text-warn")}>
        {recent.calls === 0
          ? none
          : `${formatShare(recent.failed / recent.calls)} of ${formatCount(recent.calls)}`}
      </Cell>
      <Cell isNumber>{formatCount(ejections)}</Cell>
      <Cell>
        {last_failure === null ? (
          none
        ) : (
          <>
            {failures[last_failure.category]}, <Time at={last_failure.at} />
          </>
        )}
      </Cell>
    </tr>
  );
}

const looks: Record<Replica["state"], { tone: Tone; label: string }> = {
  up: { tone: "pass", label: "Up" },
  ejected: { tone: "fail", label: "Ejected" },
  returning: { tone: "warn", label: "Returning" },
};

function StateBadge({ state }: { state: Replica["state"] }) {
  const { tone, label } = looks[state];
  return <Badge tone={tone}>{label}</Badge>;
}

const failures: Record<NonNullable<Replica["last_failure"]>["category"], string> = {
  context_exceeded: "Context exceeded",
  rate_limit: "Rate limit",
  timeout: "Timed out",
  unavailable: "Unavailable",
  unusable_completion: "Unusable answer",
  upstream: "Failed",
};
