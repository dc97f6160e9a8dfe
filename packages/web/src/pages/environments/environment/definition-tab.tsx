import { worldDefaults } from "@presage/contract/defaults";
import type { Environment, EnvironmentConfig, World } from "@presage/sdk";
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Fragment, type ReactNode } from "react";
import { usePresage } from "../../../data/client.ts";
import { environmentRevisionsQuery } from "../../../data/environments.ts";
import { worldQuery } from "../../../data/worlds.ts";
import { counted, formatShare } from "../../../format/numbers.ts";
import { humanizeName } from "../../../format/words.ts";
import { stopLabels } from "../../../parts/episodes.tsx";
import { describeReward } from "../../../parts/worlds.ts";
import { inPlace } from "../../../search-params.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Fact } from "../../../ui/card.tsx";
import { configChanges, RevisionChanges } from "../../../ui/config-changes.tsx";
import { RevisionSelect } from "../../../ui/form/select.tsx";
import { Awaited } from "../../../ui/notice.tsx";
import { PlainText } from "../../../ui/untrusted-text/plain-text.tsx";
import { toStopDraft } from "../form/read-environment-draft.ts";
import { playedBy } from "../list/environment-columns.tsx";

const route = getRouteApi("/environments/$name");

/** An environment's definition, and what its revisions changed. */
export function DefinitionTab({ environment }: { environment: Environment }) {
  const { config } = environment;
  const presage = usePresage();
  const world = useQuery({ ...worldQuery(presage, config.world ?? ""), enabled: !!config.world });
  const context = Object.entries(config.context ?? {}).filter(([, text]) => typeof text === "string");
  return (
    <div className="flex flex-col">
      <dl className="-mt-px grid grid-cols-[9rem_1fr] text-sm xl:grid-cols-[9rem_1fr_9rem_1fr]">
        {factsOf(config, world).map(([name, value]) => (
          <Fact key={name} look="lined" name={name}>
            {value}
          </Fact>
        ))}
      </dl>
      {context.length > 0 && (
        <div className="flex flex-col gap-3 border-t border-line p-4">
          {context.map(([field, text]) => (
            <PlainText key={field} label={humanizeName(field)} text={String(text)} />
          ))}
        </div>
      )}
      {environment.revision > 1 && <Changes environment={environment} />}
    </div>
  );
}

type RealTarget = NonNullable<EnvironmentConfig["real"]>;

const forms: Record<string, string> = {
  "state-action": "State and action: each step is told the observation before it",
  chat: "The whole episode is one conversation",
};

/** The environment's reward or, if it has none, its world's. */
function rewardOf(
  { reward, stop, world }: EnvironmentConfig,
  { data, error }: Pick<UseQueryResult<World>, "data" | "error">,
): string {
  if (reward) return describeReward(reward);
  if (data?.config.reward) return `${describeReward(data.config.reward)}, as the world has it`;
  if (world && data === undefined) return error === null ? "…" : "the world’s, which could not be read";
  return stop?.some(({ outcome }) => outcome === "success")
    ? "1 on the last step for success, otherwise 0"
    : "none";
}

function factsOf(
  config: EnvironmentConfig,
  world: UseQueryResult<World>,
): [name: string, value: ReactNode][] {
  const { guards, params, real, stop, tool } = config;
  const form = config.prompt_form ?? "state-action";
  const steps = world.data?.config.history?.steps ?? worldDefaults.history.steps;
  const limits = [
    guards?.repeat_limit && `the same action ${guards.repeat_limit} times in a row`,
    guards?.unchanged_limit && `${guards.unchanged_limit} observations in a row that change nothing`,
  ].filter(Boolean);
  return [
    ["Played by", playedBy(config)],
    [
      "Prompt form",
      `${forms[form]}${world.data && form !== "chat" ? `, and at most ${counted(steps, "earlier step")}` : ""}`,
    ],
    ["Cut off answers", config.truncated_output === "accept" ? "are accepted" : "fail the step"],
    ["Ends", <StopList key="stop" stop={stop} />],
    ["Cut short after", [`${config.max_steps ?? 30} steps`, ...limits].join(", or ")],
    ["Reward", rewardOf(config, world)],
    ["Real environment", real ? describeReal(real) : "none"],
    [
      "Parameters",
      <code key="params" className="min-w-0 font-mono text-xs wrap-anywhere">
        {JSON.stringify({ temperature: 0, ...params })}
      </code>,
    ],
    ["Tool", `${tool?.name ?? "act"}(${tool?.argument ?? "action"})`],
  ];
}

function describeReal({ name, share, false_success_limit: limit, on_alarm }: RealTarget): string {
  const replayed = share ? `${formatShare(share)} of the ended episodes are replayed` : "checked when asked";
  if (typeof limit !== "number") return `${name}: ${replayed}, without a limit`;
  const then = on_alarm === "refuse" ? "new episodes are refused" : "there is an alarm";
  return `${name}: ${replayed}; above ${formatShare(limit)} false success ${then}`;
}

function StopList({ stop }: Pick<EnvironmentConfig, "stop">) {
  if (!stop || stop.length === 0) return "by no rule";
  return (
    <ul className="flex min-w-0 flex-col gap-1">
      {stop.map((rule, index) => {
        const { kind, text, outcome } = toStopDraft(rule);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: rules have no identity
          <li key={index} className="flex min-w-0 flex-wrap items-center gap-1.5">
            <Badge tone={outcome === "success" ? "pass" : "fail"}>{outcome}</Badge>
            <span>if the {stopLabels[kind]}</span>
            <code className="rounded bg-sunken px-1 font-mono text-xs wrap-anywhere">{text}</code>
          </li>
        );
      })}
    </ul>
  );
}

function Changes({ environment }: { environment: Environment }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const revisions = useQuery(environmentRevisionsQuery(usePresage(), environment));
  if (revisions.data === undefined) {
    return <Awaited error={revisions.error} onRetry={revisions.refetch} count={3} className="h-8" />;
  }
  const known = revisions.data.map(({ revision }) => ({ revision }));
  const after = revisions.data.find(({ revision }) => revision === search.after) ?? revisions.data[0];
  const before =
    revisions.data.find(({ revision }) => revision === search.before) ??
    revisions.data.find(({ revision }) => revision === (after?.revision ?? 1) - 1) ??
    revisions.data.at(-1);
  if (after === undefined || before === undefined) return null;
  const choose = (part: { before?: number; after?: number }) =>
    navigate({ search: (current) => ({ ...current, ...part }), ...inPlace });
  const changes = configChanges(before.config, after.config);
  return (
    <section aria-labelledby="what-changed" className="border-t border-line">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2 text-sm text-ink-2">
        <h3 id="what-changed" className="flex-1 text-sm font-semibold text-ink">
          What changed
        </h3>
        {(
          [
            ["from", "before", before.revision],
            ["to", "after", after.revision],
          ] as const
        ).map(([word, field, value]) => (
          <Fragment key={field}>
            {word}
            <RevisionSelect
              label={field === "before" ? "From revision" : "To revision"}
              revisions={known}
              newest={environment.revision}
              value={value}
              onChange={(revision) => choose({ [field]: revision })}
            />
          </Fragment>
        ))}
      </div>
      <RevisionChanges changes={changes} before={before.revision} after={after.revision} />
    </section>
  );
}
