import type { Episode } from "@presage/sdk";
import type { ReactNode } from "react";
import { counted } from "../../format/counted.ts";
import { formatCount, formatDuration, formatScore } from "../../format/format-number.ts";
import { describeStopReason } from "../../parts/environments.ts";
import { EpisodeBadge } from "../../parts/episodes.tsx";
import { Card } from "../../ui/card.tsx";
import { ExplainedName } from "../../ui/charts/plot/explained-name.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Fact } from "../../ui/fact.tsx";
import { Time } from "../../ui/time.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";

/** What the episode was about, and how it went. */
export function EpisodeFacts({ episode }: { episode: Episode }) {
  const { prompt, goal, stop_reason: reason, reward, failed_steps: failed, seed, steps, id } = episode;
  const sum = (of: (info: Episode["steps"][number]["info"]) => number | null) => {
    const known = steps.flatMap(({ info }) => of(info) ?? []);
    return known.length === 0 && steps.length > 0 ? null : known.reduce((total, one) => total + one, 0);
  };
  const facts: [name: string, title: string | undefined, value: ReactNode][] = [
    ["Reward", "The sum of the rewards of all steps", formatScore(reward)],
    [
      "Tokens",
      `Tokens of the prompts and of the answers of ${counted(steps.length, "step")}`,
      `${formatCount(sum((info) => info.prompt_tokens))} in, ${formatCount(sum((info) => info.completion_tokens))} out`,
    ],
    [
      "Waited",
      `For the predictions of ${counted(steps.length, "step")}, together`,
      formatDuration(sum((info) => info.latency_ms) ?? 0),
    ],
    ["Failed predictions", "How many predictions failed. They are not part of the episode.", failed],
    ["Seed", undefined, seed ?? "none"],
    ["Started", undefined, <Time key="started" at={episode.created_at} />],
  ];
  return (
    <Card>
      <div className="flex flex-col gap-2 px-4 py-3">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <EpisodeBadge episode={episode} />
          <span className="min-w-0 text-sm font-medium wrap-anywhere">
            {prompt === null ? "No prompt" : <InlineText text={prompt} />}
          </span>
          {goal !== null && (
            <span className="min-w-0 text-xs wrap-anywhere text-ink-3">
              Goal: <InlineText text={goal} />
            </span>
          )}
        </div>
        <dl className="flex flex-wrap gap-x-6 gap-y-1 text-sm tabular-nums">
          {reason !== null && (
            <Fact look="inline" name="Ended because">
              <span className="wrap-anywhere">
                <InlineText text={describeStopReason(reason)} />
              </span>
            </Fact>
          )}
          {facts.map(([name, title, value]) => (
            <Fact key={name} look="inline" name={<ExplainedName name={name} explanation={title} />}>
              {value}
            </Fact>
          ))}
          <Fact look="inline" name="ID">
            <span className="inline-flex items-center gap-1">
              <code className="font-mono text-xs wrap-anywhere">{id}</code>
              <span className="-my-1.5">
                <CopyButton text={id} label="Copy the episode’s ID" />
              </span>
            </span>
          </Fact>
        </dl>
      </div>
    </Card>
  );
}
