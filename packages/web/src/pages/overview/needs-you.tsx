import { useQueries, useQuery } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import { useRefusal } from "../../data/accounts.ts";
import { apiKeysQuery } from "../../data/api-keys.ts";
import { findQueryError, usePresage } from "../../data/client.ts";
import { deploymentsQuery } from "../../data/predictions.ts";
import {
  alarmIn,
  checkAboveLimit,
  checkedEnvironmentsQuery,
  pausedChecksQuery,
  realityQuery,
} from "../../data/reality.ts";
import { queueSize, reviewQueueQuery } from "../../data/review.ts";
import { maxPausedRuns, pausedRunsQuery } from "../../data/runs.ts";
import { budgetsQuery } from "../../data/spending.ts";
import { counted, formatPercent, formatShare } from "../../format/numbers.ts";
import { Card } from "../../ui/card.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";

const need = (key: string, link: LinkProps, why: string, inFull = why) => ({ key, link, why, inFull });

const shownRuns = 5;

const look = "font-medium wrap-anywhere text-accent-ink underline-offset-2 hover:underline";

const realityOf = (name: string): LinkProps => ({
  to: "/environments/$name",
  params: { name },
  search: { tab: "reality" },
  children: `Environment ${name}`,
});

/** Whatever needs someone's attention, most urgent first. */
export function NeedsYou() {
  const presage = usePresage();
  const deployments = useQuery(deploymentsQuery(presage));
  const paused = useQuery(pausedRunsQuery(presage));
  const budgets = useQuery(budgetsQuery(presage));
  const pausedRuns = paused.data ?? [];
  const others = pausedRuns.length - shownRuns;
  const otherRuns: LinkProps = {
    to: "/runs",
    search: { status: "paused" },
    children:
      pausedRuns.length < maxPausedRuns
        ? counted(others, "other paused run")
        : `${others} or more other paused runs`,
  };
  const spent = budgets.data?.data.filter(({ state }) => state !== "ok") ?? [];
  const keys = useQuery({
    ...apiKeysQuery(presage),
    enabled: spent.some(({ api_key_id }) => api_key_id !== null),
  });
  const queue = useQuery(reviewQueueQuery(presage, { seed: 1 }, 0));
  const checks = useQuery(pausedChecksQuery(presage));
  const checked = useQuery(checkedEnvironmentsQuery(presage));
  const names = checked.data ?? [];
  const reality = useQueries({ queries: names.map((name) => realityQuery(presage, name)) });
  const all = [deployments, paused, budgets, queue, checks, checked, ...reality];
  const failure = findQueryError([...all, keys]);
  const isKnown = !keys.isLoading && all.every(({ data }) => data !== undefined);
  const isViewer = useRefusal("evaluate") !== undefined;
  const toLabel = queue.data?.data.filter(({ reason }) => reason !== "drawn").length ?? 0;
  const needs = [
    ...(deployments.data ?? [])
      .filter(({ state }) => state !== "up")
      .map(({ name, state, error_rate: rate }) =>
        need(
          `deployment ${name}`,
          { to: "/deployments", children: `Deployment ${name}` },
          `${state}${rate ? `: ${formatShare(rate)} of its calls of the last 5 minutes failed` : ""}`,
        ),
      ),
    ...names.flatMap((name, index) => {
      const alarm = alarmIn(reality[index]?.data?.state);
      if (alarm === undefined) return [];
      const whose = "policy" in alarm ? ` of ${alarm.policy}` : "";
      const why = `Alarm${whose}: too many of its successes fail in reality`;
      return need(`alarm ${name}`, realityOf(name), why, alarm.sentence);
    }),
    ...names.flatMap((name, index) => {
      const { data } = reality[index] ?? {};
      const check = data && checkAboveLimit(data);
      if (!check) return [];
      const limit = `Too many false successes in ${check.name}: above its limit of ${formatPercent(check.false_success_limit)}`;
      return need(`limit ${name}`, realityOf(name), limit, check.sentence);
    }),
    ...(checks.data ?? []).map(({ id, name, environment, reason }) =>
      need(`check ${id}`, realityOf(environment ?? ""), `Reality check ${name} is paused: ${reason}`),
    ),
    ...pausedRuns
      .slice(0, shownRuns)
      .map(({ id, name, status_reason }) =>
        need(
          `run ${id}`,
          { to: "/runs/$runId", params: { runId: id }, children: <InlineText text={name} /> },
          status_reason ?? "paused",
        ),
      ),
    ...(others <= 0 ? [] : [need("paused", otherRuns, "in the list of runs")]),
    ...spent.flatMap(({ api_key_id, share }) => {
      const apiKey = keys.data?.find(({ id }) => id === api_key_id);
      if (apiKey?.revoked_at || (api_key_id !== null && keys.isLoading)) return [];
      const whose = api_key_id === null ? "the account" : (apiKey?.name ?? "a key");
      return need(
        `budget ${api_key_id}`,
        { to: api_key_id === null ? "/usage" : "/api-keys", children: `Budget of ${whose}` },
        share === null ? "The budget is 0" : `${formatShare(share)} of this month’s is spent`,
      );
    }),
    ...(toLabel === 0 || isViewer
      ? []
      : [
          need(
            "labels",
            {
              to: "/review",
              children: `${toLabel < queueSize ? counted(toLabel, "verdict") : `${toLabel}+ verdicts`} to label`,
            },
            "Evaluators disagree, or are unsure",
          ),
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
          {needs.map(({ key, link, why, inFull }) => (
            <li
              key={key}
              className="flex flex-col px-4 py-2 text-sm sm:max-xl:flex-row sm:max-xl:items-baseline sm:max-xl:gap-3"
            >
              <Link {...link} className={look} />
              <span
                title={inFull}
                className="min-w-0 text-xs text-warn sm:max-xl:truncate max-sm:wrap-anywhere xl:wrap-anywhere"
              >
                {why}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
