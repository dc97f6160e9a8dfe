import type { DeploymentStatus } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { usePresage } from "../../data/client.ts";
import { storedPredictionValuesQuery } from "../../data/predictions.ts";
import { formatCount, formatDuration, formatShare } from "../../format/numbers.ts";
import type { Period } from "../../format/times.ts";
import { toPredictionFilter } from "../../parts/predictions.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Cell, RowHeader } from "../../ui/table.tsx";
import { Time, useNow } from "../../ui/time.tsx";

type Replica = NonNullable<DeploymentStatus["replicas"]>[number];

const sandboxModel = "presage-sandbox";

interface DeploymentRowProps {
  deployment: DeploymentStatus;
  period: Period;
}

export function DeploymentRow({ deployment, period }: DeploymentRowProps) {
  const { name, model, is_default } = deployment;
  return (
    <tr className="h-11 border-b border-line last:border-b-0">
      <RowHeader>
        <span className="flex flex-wrap items-center gap-x-2 font-medium">
          <span className="wrap-anywhere">{name}</span>
          {is_default && <Badge tone="accent">Default</Badge>}
        </span>
        <span className="block text-xs font-normal text-ink-3 wrap-anywhere">
          {name === "sandbox" && (model ?? sandboxModel) === sandboxModel
            ? "The built-in sandbox: rules, no language model."
            : (model ?? "Not asked yet")}
        </span>
        <Advice {...deployment} />
      </RowHeader>
      <Cell>
        <StateBadge {...deployment} />
      </Cell>
      <StoredCells deployment={name} period={period} />
    </tr>
  );
}

/** What the operator can do about current failures. */
function Advice({ state, replicas = [] }: DeploymentStatus) {
  const failing = replicas.filter(({ is_failing, recent }) => is_failing || recent.failed > 0);
  const last = failing.flatMap(({ last_failure }) => last_failure?.category ?? []);
  if (state === "up" && last.length === 0) return null;
  const [category] = last;
  return (
    <span className="block pt-0.5 text-xs font-normal text-warn">
      {category === undefined ? "The operator of this server sees which replica fails." : advice[category]}
    </span>
  );
}

/** Counts of the account's stored predictions from all processes, with a link to them. */
function StoredCells({ deployment, period }: Pick<DeploymentRowProps, "period"> & { deployment: string }) {
  const filter = toPredictionFilter({ deployment, period }, useNow());
  const { data, isError } = useQuery(storedPredictionValuesQuery(usePresage(), filter));
  const countOf = (status: string) => data?.status.find(({ value }) => value === status)?.count ?? 0;
  const failed = countOf("failed");
  const all = failed + countOf("success");
  if (data === undefined || all === 0)
    return (
      <>
        <Cell isNumber className="text-xs text-ink-3">
          {data === undefined ? (isError ? "could not be read" : "…") : "none stored"}
        </Cell>
        <Cell isNumber>{none}</Cell>
        <Cell isNumber>{none}</Cell>
        <Cell isNumber>{none}</Cell>
      </>
    );
  return (
    <>
      <Cell isNumber>
        <Link to="/predictions" search={{ deployment, period }} className={linkClass}>
          {formatCount(all)}
        </Link>
      </Cell>
      <Cell isNumber>
        {failed === 0 ? (
          `0 of ${formatCount(all)}`
        ) : (
          <Link
            to="/predictions"
            search={{ deployment, period, status: "failed" }}
            className="whitespace-nowrap text-warn underline underline-offset-2"
          >
            {formatShare(failed / all)}, {formatCount(failed)}
          </Link>
        )}
      </Cell>
      <Cell isNumber className="whitespace-nowrap">
        {data.latency_ms ? formatDuration(data.latency_ms.p50) : none}
      </Cell>
      <Cell isNumber className="whitespace-nowrap">
        {data.latency_ms ? formatDuration(data.latency_ms.p95) : none}
      </Cell>
    </>
  );
}

const none = <span className="text-ink-3">–</span>;
const linkClass = "text-accent-ink underline underline-offset-2";

export function ReplicaRow({ deployment, replica }: { deployment: string; replica: Replica }) {
  const { url, state, is_failing, in_flight, limit, latency_ms, last_failure, recent } = replica;
  const { tone, label } = state === "up" && is_failing ? failingLook : looks[state];
  return (
    <tr className="h-11 border-b border-line text-ink-2 last:border-b-0 whitespace-nowrap">
      <RowHeader>
        <span className="block max-w-80 truncate font-mono text-xs text-ink" title={url}>
          {url.replace(/^https?:\/\//, "")}
        </span>
        <span className="block text-xs text-ink-3">{deployment}</span>
      </RowHeader>
      <Cell>
        <Badge tone={tone}>{label}</Badge>
      </Cell>
      <Cell isNumber className={clsx(recent.failed > 0 && "text-warn")}>
        {recent.calls === 0 ? none : `${formatCount(recent.failed)} of ${formatCount(recent.calls)}`}
      </Cell>
      <Cell isNumber>{latency_ms ? formatDuration(latency_ms.p50) : none}</Cell>
      <Cell isNumber>{latency_ms ? formatDuration(latency_ms.p99) : none}</Cell>
      <Cell isNumber>
        {limit === null ? formatCount(in_flight) : `${formatCount(in_flight)} of ${formatCount(limit)}`}
      </Cell>
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

/** Whether there is nothing to say of a replica but that it is up. */
export function isFine({ state, is_failing, last_failure, recent }: Replica): boolean {
  return state === "up" && !is_failing && last_failure === null && recent.failed === 0;
}

const looks: Record<Replica["state"], { tone: Tone; label: string }> = {
  up: { tone: "pass", label: "Up" },
  ejected: { tone: "fail", label: "Ejected" },
  returning: { tone: "warn", label: "Returning" },
};

/** A failing replica is still asked if it is the only one left. */
const failingLook = { tone: "fail", label: "Failing" } as const;

const states = {
  up: { tone: "pass", label: "Up" },
  degraded: { tone: "warn", label: "Degraded" },
  out: { tone: "fail", label: "Out" },
} as const;

function StateBadge({ state, error_rate, replicas }: DeploymentStatus) {
  const { tone, label } = states[state];
  const up = replicas?.filter((replica) => replica.state === "up" && !replica.is_failing).length;
  const said = [
    replicas && (replicas.length > 1 || state !== "up") && `${up} of ${replicas.length} up`,
    error_rate ? `${formatShare(error_rate)} of tries failed in 5 minutes` : undefined,
  ];
  return (
    <>
      <Badge tone={tone}>{label}</Badge>
      <span className="block pt-0.5 text-xs whitespace-nowrap text-ink-3 tabular-nums">
        {said.filter(Boolean).join(", ")}
      </span>
    </>
  );
}

type FailureCategory = NonNullable<Replica["last_failure"]>["category"];

const advice: Record<FailureCategory, string> = {
  context_exceeded: "Prompts are too long: shorten the context, or serve the model with a longer one.",
  rate_limit: "It limits requests: lower the concurrency of runs, or have its limit raised.",
  timeout: "It is too slow: lower the concurrency of runs, or raise PRESAGE_UPSTREAM_TIMEOUT_MS.",
  unavailable: "A replica does not answer: check that its server runs and that its address is right.",
  unusable_completion: "It answers without text: check the chat template and max_tokens.",
  upstream: "The model’s server fails or refuses: its own log says why; check the credential.",
};

const failures: Record<FailureCategory, string> = {
  context_exceeded: "Context exceeded",
  rate_limit: "Rate limit",
  timeout: "Timed out",
  unavailable: "Unavailable",
  unusable_completion: "Unusable answer",
  upstream: "Failed",
};
