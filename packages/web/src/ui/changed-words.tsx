import { clsx } from "clsx";
import type { Stretch } from "../text/word-changes.ts";

/** A text with what went struck through and what came marked. */
export function ChangedWords({ stretches }: { stretches: readonly Stretch[] }) {
  return (
    <p className="max-h-96 overflow-auto font-mono text-xs leading-5 wrap-anywhere whitespace-pre-wrap">
      {stretches.map(({ kind, text }, place) => {
        const Tag = kind === "added" ? "ins" : kind === "removed" ? "del" : "span";
        return (
          <Tag
            // biome-ignore lint/suspicious/noArrayIndexKey: the stretches of one comparison never move
            key={place}
            className={clsx(
              kind === "added" && "rounded-sm bg-pass-soft text-pass no-underline",
              kind === "removed" && "rounded-sm bg-fail-soft text-fail",
            )}
          >
            {text}
          </Tag>
        );
      })}
    </p>
  );
}
