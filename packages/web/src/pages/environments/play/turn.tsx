import type { EpisodeStep } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import { formatCount, formatDuration, formatScore } from "../../../format/numbers.ts";
import { Badge } from "../../../ui/badge.tsx";
import { TextDifference } from "../../../ui/difference/text-difference.tsx";
import { sharesLines } from "../../../ui/steps/step-texts.tsx";
import { Pieces } from "../../../ui/untrusted-text/inline-text.tsx";
import { PlainText } from "../../../ui/untrusted-text/plain-text.tsx";

interface TurnProps {
  episodeId: string;
  step: EpisodeStep;
  /** The observation before the action. */
  before: string;
  isMarked: boolean;
}

/** An action, and the world's answer. */
export function Turn({ episodeId, step, before, isMarked }: TurnProps) {
  const { action, observation, reward, info } = step;
  const hasChanges = isMarked && observation !== before && sharesLines(before, observation);
  return (
    <li className="flex flex-col gap-1.5">
      <ActionLine action={action} />
      {hasChanges ? (
        <TextDifference
          before={before}
          after={observation}
          beforeLabel="before"
          afterLabel="after the action"
        />
      ) : (
        <Observation text={observation} />
      )}
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-3 tabular-nums">
        <Link
          to="/episodes/$episodeId"
          params={{ episodeId }}
          search={{ step: info.step }}
          title="The step with the prompt that was sent"
          className="hover:text-ink hover:underline"
        >
          Step {info.step}
        </Link>
        {info.latency_ms !== null && <span>{formatDuration(info.latency_ms)}</span>}
        <span title="Tokens of the prompt and of the answer">
          {formatCount(info.prompt_tokens)} → {formatCount(info.completion_tokens)} tokens
        </span>
        {observation === before && <span>nothing changed</span>}
        {reward !== null && (
          <Badge tone={reward > 0 ? "pass" : "neutral"}>reward {formatScore(reward)}</Badge>
        )}
        {info.reward_error !== null && <Badge tone="warn">no reward: {info.reward_error}</Badge>}
      </p>
    </li>
  );
}

export function ActionLine({ action }: { action: string }) {
  return (
    <p className="flex min-w-0 items-start gap-1.5 text-sm font-medium text-accent-ink">
      <ChevronRight className="mt-0.5 size-4 shrink-0" aria-hidden />
      <span className="sr-only">You: </span>
      <span className="min-w-0 wrap-anywhere whitespace-pre-wrap [unicode-bidi:plaintext]">
        <Pieces text={action} />
      </span>
    </p>
  );
}

/** Longer observations are shown in the frame for long texts. */
const longCharacters = 4_000;

/** The world's answer: untrusted text. */
export function Observation({ text }: { text: string }) {
  if (text.length > longCharacters) return <PlainText text={text} label="Observation" />;
  return (
    <p className="rounded-md bg-sunken px-3 py-2 text-sm leading-6 wrap-anywhere whitespace-pre-wrap text-ink [unicode-bidi:plaintext]">
      {text === "" ? <span className="text-ink-3 italic">Nothing</span> : <Pieces text={text} />}
    </p>
  );
}
