import { Badge, type Tone } from "../../../ui/badge.tsx";
import { pathKey } from "../tree/walk-nodes.ts";
import type { TaxonomyChange } from "./taxonomy-changes.ts";

const words: Record<TaxonomyChange["kind"], { label: string; tone: Tone }> = {
  added: { label: "New", tone: "pass" },
  removed: { label: "Gone", tone: "fail" },
  described: { label: "Described anew", tone: "neutral" },
};

/** What became of the tree between two revisions. */
export function TaxonomyChangesView({ changes }: { changes: readonly TaxonomyChange[] }) {
  return (
    <ul>
      {changes.map((change) => (
        <li
          key={`${change.kind} ${pathKey(change.path)}`}
          className="flex flex-col gap-1 border-b border-line px-4 py-2.5 last:border-b-0"
        >
          <p className="flex flex-wrap items-center gap-2 text-sm">
            <Badge tone={words[change.kind].tone}>{words[change.kind].label}</Badge>
            <bdi className="wrap-anywhere">
              {change.path.length > 1 && (
                <span className="text-ink-3">{change.path.slice(0, -1).join(" / ")} / </span>
              )}
              {change.path.at(-1)}
            </bdi>
          </p>
          <Description change={change} />
        </li>
      ))}
    </ul>
  );
}

function Description({ change: { before, after } }: { change: TaxonomyChange }) {
  return (
    <div className="flex flex-col text-xs text-ink-2">
      {before !== "" && <del className="decoration-fail">{before}</del>}
      {after !== "" && <ins className="no-underline">{after}</ins>}
    </div>
  );
}
