import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { findQueryError, usePresage } from "../../data/client.ts";
import { deploymentsQuery } from "../../data/predictions.ts";
import { alarmIn, checkedEnvironmentsQuery, latestChecksQuery, realityQuery } from "../../data/reality.ts";
import { reviewQueueQuery } from "../../data/review.ts";
import { pausedRunsQuery } from "../../data/runs.ts";
import { budgetsQuery } from "../../data/spending.ts";
import { counted, formatShare, unbroken } from "../../format/numbers.ts";
import { Card } from "../../ui/card.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";

interface Need {
  key: string;
  link: ReactNode;
  why: string;
}

const look = "font-medium wrap-anywhere text-accent-ink underline-offset-2 hover:underline";

function RealityLink({ name }: { name: string }) {
  return (
    <Link to="/environments/$name" params={{ name }} search={{ tab: "reality" }} className={look}>
      Environment {name}
    </Link>
  );
}

/** What waits for someone, the most urgent first. */
export function NeedsYou() {
  const presage = usePresage();
  const deployments = useQuery(deploymentsQuery(presage));
  const paused = useQuery(pausedRunsQuery(presage));
  const budgets = useQuery(budgetsQuery(presage));
  const queue = useQuery(reviewQueueQuery(presage, { seed: 1 }, 0));
  const checks = useQuery(latestChecksQuery(presage));
  const { data: names = [] } = useQuery(checkedEnvironmentsQuery(presage));
  const reality = useQueries({ queries: names.map((name) => realityQuery(presage, name)) });
  const all = [deployments, paused, budgets, queue, checks, ...reality];
  const failure = findQueryError(all);
  const isKnown = all.every(({ data }) => data !== undefined);
  const toLabel = queue.data?.data.filter(({ reason }) => reason !== "drawn").length ?? 0;
  const needs: Need[] = [
    ...(deployments.data ?? [])
      .filter(({ state }) => state !== "up")
      .map(({ name, state, error_rate }) => ({
        key: `deployment ${name}`,
        link: (
          <Link to="/deployments" className={look}>
            Deployment {name}
          </Link>
        ),
        why: `${state}${error_rate ? `: ${formatShare(error_rate)} of its calls of the last 5 minutes failed` : ""}`,
      })),
    ...names.flatMap((name, index) => {
      const alarm = alarmIn(reality[index]?.data?.state);
      if (alarm === undefined) return [];
      return {
        key: `alarm ${name}`,
        link: <RealityLink name={name} />,
        why: `Alarm. ${unbroken(alarm.sentence)}`,
      };
    }),
    ...(checks.data ?? [])
      .filter(({ status }) => status === "paused")
      .map(({ id, name, environment, reason }) => ({
        key: `check ${id}`,
        link: <RealityLink name={environment ?? ""} />,
        why: `Reality check ${name} is paused: ${reason}`,
      })),
    ...(paused.data ?? []).map(({ id, name, status_reason }) => ({
      key: `run ${id}`,
      link: (
        <Link to="/runs/$runId" params={{ runId: id }} className={look}>
          <InlineText text={name} />
        </Link>
      ),
      why: status_reason ?? "paused",
    })),
    ...(budgets.data?.data ?? [])
      .filter(({ state }) => state !== "ok")
      .map(({ api_key_id, share }) => ({
        key: `budget ${api_key_id}`,
        link: (
          <Link to="/usage" className={look}>
            Budget of {api_key_id === null ? "the account" : "a key"}
          </Link>
        ),
        why: `${formatShare(share)} of this month’s is spent`,
      })),
    ...(toLabel === 0
      ? []
      : [
          {
            key: "labels",
            link: (
              <Link to="/review" className={look}>
                {counted(toLabel, "verdict")} to label
              </Link>
            ),
            why: "disputed or uncertain",
          },
        ]),
  ];
  return (
    <Card title={needs.length === 0 ? undefined : "Needs you"}>
      {failure && <ErrorNotice error={failure.error} onRetry={failure.retry} />}
      {needs.length === 0 ? (
        <p className="px-4 py-2.5 text-sm text-ink-2">
          {isKnown
            ? "Nothing needs you: no run is paused, every deployment is up, and no verdict is disputed."
            : "…"}
        </p>
      ) : (
        <ul data-needs="" className="divide-y divide-line">
          {needs.map(({ key, link, why }) => (
            <li key={key} className="flex flex-col px-4 py-2 text-sm">
              {link}
              <span className="text-xs wrap-anywhere text-warn">{why}</span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
