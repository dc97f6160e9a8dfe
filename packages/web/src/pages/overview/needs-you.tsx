import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { usePresage } from "../../data/client.ts";
import { deploymentsQuery } from "../../data/predictions.ts";
import { pausedRunsQuery } from "../../data/runs.ts";
import { formatShare } from "../../format/numbers.ts";
import { Card } from "../../ui/card.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";

interface Need {
  key: string;
  link: ReactNode;
  why: string;
}

const look = "font-medium wrap-anywhere text-accent-ink underline-offset-2 hover:underline";

/** What waits for someone, the most urgent first. */
export function NeedsYou() {
  const presage = usePresage();
  const { data: deployments } = useQuery(deploymentsQuery(presage));
  const { data: paused } = useQuery(pausedRunsQuery(presage));
  const isKnown = deployments !== undefined && paused !== undefined;
  const needs: Need[] = [
    ...(deployments ?? [])
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
    ...(paused ?? []).map(({ id, name, status_reason }) => ({
      key: `run ${id}`,
      link: (
        <Link to="/runs/$runId" params={{ runId: id }} className={look}>
          <InlineText text={name} />
        </Link>
      ),
      why: status_reason ?? "paused",
    })),
  ];
  return (
    <Card title={needs.length === 0 ? undefined : "Needs you"}>
      {needs.length === 0 ? (
        <p className="px-4 py-2.5 text-sm text-ink-2">
          {isKnown ? "Nothing needs you: no run is paused, and every deployment is up." : "…"}
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
