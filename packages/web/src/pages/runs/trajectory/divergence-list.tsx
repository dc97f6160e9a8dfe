import { Link, type LinkProps } from "@tanstack/react-router";
import { counted } from "../../../format/counted.ts";
import type { Divergence } from "./trajectory-outline.ts";

interface DivergenceListProps {
  names: readonly string[];
  /** In the same order. */
  divergences: readonly Divergence[];
  link(step: number): LinkProps;
}

/** By each evaluator, where the trajectory leaves the recording. */
export function DivergenceList({ names, divergences, link }: DivergenceListProps) {
  return (
    <ul className="flex flex-wrap gap-x-6 gap-y-1 px-4 py-2.5 text-sm">
      {divergences.map((divergence, index) => (
        <li key={names[index]} className="flex min-w-0 gap-1.5">
          <span className="truncate text-ink-2">{names[index]}</span>
          <Where divergence={divergence} link={link} />
        </li>
      ))}
    </ul>
  );
}

function Where({ divergence, link }: { divergence: Divergence; link: DivergenceListProps["link"] }) {
  if (divergence.kind === "agrees") {
    return <span className="font-medium text-pass">none in {counted(divergence.steps, "step")}</span>;
  }
  const isKnown = divergence.kind === "diverged";
  return (
    <Link
      {...link(divergence.step)}
      replace
      resetScroll={false}
      title={isKnown ? "Go to the step" : "There is no verdict at this step, so what follows is not known"}
      className={`shrink-0 font-medium hover:underline ${isKnown ? "text-fail" : "text-warn"}`}
    >
      {isKnown ? `step ${divergence.step}` : `not known after step ${divergence.step}: no verdict`}
    </Link>
  );
}
