import type { Episode } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { ArrowRight, RotateCcw } from "lucide-react";
import { useEffect, useRef } from "react";
import { counted } from "../../../format/counted.ts";
import { formatScore } from "../../../format/format-number.ts";
import { describeStopReason } from "../../../parts/environments.ts";
import { EpisodeBadge } from "../../../parts/episodes.tsx";
import { Button, buttonClass } from "../../../ui/button.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";

interface EpisodeEndProps {
  episode: Episode;
  onAgain(): void;
  onNext: (() => void) | undefined;
}

/** How the episode ended, in place of the input; Enter continues. */
export function EpisodeEnd({ episode, onAgain, onNext }: EpisodeEndProps) {
  const next = useRef<HTMLButtonElement>(null);
  useEffect(() => next.current?.focus({ preventScroll: true }), []);
  const { reward, steps_taken: steps, status, stop_reason: reason } = episode;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2 border-t border-line bg-surface p-2.5">
      <div
        role="status"
        className="flex min-w-0 flex-1 basis-60 flex-wrap items-center gap-x-2 gap-y-1 px-1 text-sm"
      >
        <EpisodeBadge episode={episode} />
        <span className="tabular-nums">
          after {counted(steps, "step")}
          {reward !== null && `, reward ${formatScore(reward)}`}
        </span>
        <span className="min-w-0 text-xs wrap-anywhere text-ink-3">
          {status === "expired"
            ? "Nothing happened for 15 minutes."
            : reason !== null && <InlineText text={describeStopReason(reason)} />}
        </span>
      </div>
      <Link
        to="/episodes/$episodeId"
        params={{ episodeId: episode.id }}
        className={buttonClass({ variant: "quiet" })}
      >
        The episode
      </Link>
      <Button
        ref={onNext === undefined ? next : undefined}
        icon={<RotateCcw aria-hidden />}
        onClick={onAgain}
      >
        Again
      </Button>
      {onNext !== undefined && (
        <Button ref={next} variant="primary" onClick={onNext}>
          Next task
          <ArrowRight aria-hidden />
        </Button>
      )}
    </div>
  );
}
