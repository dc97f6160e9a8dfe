import type { TaxonomyNode } from "@presage/contract/read-taxonomy";
import type { ErrorTaxonomyRevision, RecentErrorFindingsResponse } from "@presage/sdk";
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { usePresage } from "../../../data/client.ts";
import { taxonomyFindingsQuery } from "../../../data/taxonomies.ts";
import { counted, formatCount, formatShare } from "../../../format/numbers.ts";
import { ResultDrawer } from "../../../parts/results/result-drawer.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Segmented } from "../../../ui/form/choices.tsx";
import { Awaited, ErrorNotice } from "../../../ui/notice.tsx";
import { Time } from "../../../ui/time.tsx";
import { Explained } from "../../../ui/tooltip.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { TaxonomyTree } from "./taxonomy-tree.tsx";
import { countFindings, countLeaves, pathKey, walkNodes } from "./tree-nodes.ts";

interface KindsCardProps {
  revision: ErrorTaxonomyRevision;
  nodes: readonly TaxonomyNode[];
  /** The key of the path of the chosen kind. */
  chosen: string | undefined;
  onChoose(kind: string): void;
}

/** A revision's tree, and how often each kind of error was found. */
export function KindsCard({ revision, nodes, chosen, onChoose }: KindsCardProps) {
  const presage = usePresage();
  const findings = useQuery(taxonomyFindingsQuery(presage, revision.id));
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const leaves = countLeaves(nodes);
  const categories = walkNodes(nodes).filter(({ node }) => node.children.length > 0);
  return (
    <Card
      title={`${counted(leaves, "kind")} of error`}
      actions={
        categories.length > 1 && (
          <Button
            size="small"
            variant="quiet"
            onClick={() =>
              setCollapsed(new Set(collapsed.size > 0 ? [] : categories.map(({ path }) => pathKey(path))))
            }
          >
            {collapsed.size > 0 ? "Expand all" : "Collapse all"}
          </Button>
        )
      }
      hint={findings.data === undefined ? "…" : describeEvaluated(findings.data.evaluated)}
    >
      {findings.isError && (
        <div className="p-4">
          <ErrorNotice error={findings.error} onRetry={() => findings.refetch()} />
        </div>
      )}
      {nodes.length === 0 ? (
        <p className="px-4 py-3 text-sm text-ink-2">This revision has no kinds of error.</p>
      ) : (
        <TaxonomyTree
          nodes={nodes}
          collapsed={collapsed}
          onCollapse={setCollapsed}
          choice={{ chosen, onChoose }}
          findings={
            findings.data && findings.data.evaluated > 0
              ? {
                  countOf: countFindings(findings.data.findings),
                  evaluated: findings.data.evaluated,
                  most: Math.max(0, ...findings.data.findings.map(({ count }) => count)),
                }
              : undefined
          }
        />
      )}
    </Card>
  );
}

function describeEvaluated(count: number): string {
  if (count === 0) return "No evaluation has used this revision yet.";
  return `How often each was found in ${counted(count, "evaluation")} with this revision. An evaluation can find several.`;
}

interface KindCardProps {
  recent: UseQueryResult<RecentErrorFindingsResponse>;
  /** The key of the kind's path; undefined if no errors were found. */
  kind: string | undefined;
  /** The grouping of the errors. */
  by: "model" | "run";
  onBy(by: "model" | "run"): void;
  openId: string | undefined;
  onOpen(id: string | undefined): void;
}

const choices = [
  { value: "model", label: "By model" },
  { value: "run", label: "By run" },
] as const;

/** One kind of error: how often each model makes it, or how often each run has it, with examples. */
export function KindCard({
  recent: { data, error, refetch },
  kind,
  by,
  onBy,
  openId,
  onOpen,
}: KindCardProps) {
  const path = kind === undefined ? [] : readPath(kind);
  const examples = data?.examples.find((of) => pathKey(of.path) === kind)?.results ?? [];
  return (
    <Card
      title={path.length === 0 ? "Who makes it" : <InlineText text={path.join(" / ")} />}
      actions={<Segmented label="Whose errors" value={by} options={choices} onChange={onBy} />}
      hint={
        data === undefined
          ? "…"
          : `In the newest ${counted(data.evaluated, "evaluation")} with this revision, by the ${by === "run" ? "run that they belong to" : "model that wrote the output; baselines are separate"}.`
      }
      className="min-h-80 lg:sticky lg:top-4"
    >
      {data === undefined ? (
        <Awaited error={error} onRetry={refetch} count={4} />
      ) : (
        <>
          <ul className="flex flex-col gap-2.5 px-4 py-3">
            {by === "run"
              ? data.runs.map((of) => (
                  <KindShare key={of.evaluation_run_id ?? ""} of={of} kind={kind} subject="of this run">
                    <RunName run={of} />
                  </KindShare>
                ))
              : data.models.map((of) => (
                  <KindShare
                    key={`${of.baseline} ${of.model}`}
                    of={of}
                    kind={kind}
                    subject={of.baseline === null ? "of this model’s outputs" : "of this baseline’s outputs"}
                  >
                    <Writer {...of} />
                  </KindShare>
                ))}
          </ul>
          <h3 className="border-t border-line px-4 pt-3 text-xs font-medium text-ink-3">Examples</h3>
          {examples.length === 0 ? (
            <p className="px-4 py-2 text-sm text-ink-3">None of the newest evaluations found it.</p>
          ) : (
            <ul className="flex flex-col pb-2">
              {examples.map(({ id, reason, created_at, ...by }) => (
                <li key={id}>
                  <button
                    type="button"
                    aria-current={id === openId ? "true" : undefined}
                    onClick={() => onOpen(id)}
                    className="flex w-full flex-col gap-0.5 px-4 py-2 text-left text-sm -outline-offset-2 hover:bg-hover aria-[current=true]:bg-accent-soft"
                  >
                    <span className="line-clamp-2 wrap-anywhere text-accent-ink">
                      {reason === null || reason === "" ? `Result ${id}` : <InlineText text={reason} />}
                    </span>
                    <span className="text-xs text-ink-3">
                      <Writer {...by} /> · <Time at={created_at} />
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
      <ResultDrawer
        openId={openId}
        ids={examples.map(({ id }) => id)}
        onOpen={onOpen}
        onClose={() => onOpen(undefined)}
      />
    </Card>
  );
}

/** Parses a path from the address, which may contain anything. */
function readPath(key: string): string[] {
  try {
    const path: unknown = JSON.parse(key);
    return Array.isArray(path) ? path.map(String) : [];
  } catch {
    return [];
  }
}

interface KindShareProps {
  of: Pick<RecentErrorFindingsResponse["models"][number], "evaluated" | "findings">;
  /** The key of the kind's path. */
  kind: string | undefined;
  /** Names the source of the evaluations in the explanation. */
  subject: string;
  children: ReactNode;
}

/** The share of a model's or a run's evaluations in which a kind of error was found. */
function KindShare({ of: { evaluated, findings }, kind, subject, children }: KindShareProps) {
  const count = findings.find(({ path }) => pathKey(path) === kind)?.count ?? 0;
  const share = evaluated === 0 ? 0 : count / evaluated;
  return (
    <li className="flex flex-col gap-1 text-sm">
      <span className="flex justify-between gap-3">
        <span className="min-w-0 truncate">{children}</span>
        <Explained
          text={`Found in ${formatCount(count)} of the newest ${counted(evaluated, "evaluation")} ${subject}.`}
          className="whitespace-nowrap tabular-nums"
        >
          {formatShare(share)}{" "}
          <span className="text-xs text-ink-3">
            {formatCount(count)} of {formatCount(evaluated)}
          </span>
        </Explained>
      </span>
      <span aria-hidden className="h-1.5 overflow-hidden rounded-full bg-sunken">
        <span className="block h-full rounded-full bg-fail" style={{ width: `${share * 100}%` }} />
      </span>
    </li>
  );
}

function Writer({
  model,
  baseline,
}: Pick<RecentErrorFindingsResponse["models"][number], "model" | "baseline">) {
  if (baseline !== null) return <span className="text-ink-3">Baseline, {baseline.replace("-", " ")}</span>;
  if (model === null) return <span className="text-ink-3">No model named</span>;
  return <InlineText text={model} />;
}

/** Presage's own runs link to their page; other runs link to their results. */
function RunName({
  run: { evaluation_run_id: id, name },
}: {
  run: RecentErrorFindingsResponse["runs"][number];
}) {
  if (id === null) return <span className="text-ink-3">Without a run</span>;
  const className = "text-accent-ink underline-offset-2 hover:underline";
  if (name !== null) {
    return (
      <Link to="/runs/$runId" params={{ runId: id }} className={className}>
        <InlineText text={name} />
      </Link>
    );
  }
  return (
    <Link to="/evaluations" search={{ run: id, family: "error-taxonomy" }} className={className}>
      <InlineText text={id} />
    </Link>
  );
}
