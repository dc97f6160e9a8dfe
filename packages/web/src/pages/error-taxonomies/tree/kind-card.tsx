import type { RecentErrorFindingsResponse } from "@presage/sdk";
import type { UseQueryResult } from "@tanstack/react-query";
import { formatCount, formatShare } from "../../../format/format-number.ts";
import { Card } from "../../../ui/card.tsx";
import { ErrorNotice } from "../../../ui/error-notice.tsx";
import { SkeletonRows } from "../../../ui/skeleton.tsx";
import { Time } from "../../../ui/time.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { ResultDrawer } from "../../evaluations/drawer/result-drawer.tsx";
import { pathKey } from "./walk-nodes.ts";

interface KindCardProps {
  recent: UseQueryResult<RecentErrorFindingsResponse>;
  /** The key of its path; undefined if none was found. */
  kind: string | undefined;
  openId: string | undefined;
  onOpen(id: string | undefined): void;
}

/** One kind of error: how often each model makes it, and examples. */
export function KindCard({ recent: { data, error, refetch }, kind, openId, onOpen }: KindCardProps) {
  const path = kind === undefined ? [] : readPath(kind);
  const examples = data?.examples.find((of) => pathKey(of.path) === kind)?.results ?? [];
  return (
    <Card
      title={path.length === 0 ? "By model" : <InlineText text={path.join(" / ")} />}
      hint={
        data === undefined
          ? "…"
          : `In the newest ${formatCount(data.evaluated)} ${data.evaluated === 1 ? "evaluation" : "evaluations"} with this revision, by the model that wrote the output.`
      }
      className="min-h-80 lg:sticky lg:top-4"
    >
      {error !== null && data === undefined ? (
        <div className="p-4">
          <ErrorNotice error={error} onRetry={refetch} />
        </div>
      ) : data === undefined ? (
        <SkeletonRows count={4} />
      ) : data.evaluated === 0 ? (
        <p className="px-4 py-3 text-sm text-ink-2">
          Once evaluations have used this revision, this shows which model makes which error, with examples.
        </p>
      ) : (
        <>
          <ul className="flex flex-col gap-2.5 px-4 py-3">
            {data.models.map((of) => (
              <ModelRow key={of.model ?? ""} of={of} kind={kind} />
            ))}
          </ul>
          <h3 className="border-t border-line px-4 pt-3 text-xs font-medium text-ink-3">Examples</h3>
          {examples.length === 0 ? (
            <p className="px-4 py-2 text-sm text-ink-3">None of the newest evaluations found it.</p>
          ) : (
            <ul className="flex flex-col pb-2">
              {examples.map(({ id, model, reason, created_at }) => (
                <li key={id}>
                  <button
                    type="button"
                    aria-current={id === openId ? "true" : undefined}
                    onClick={() => onOpen(id)}
                    className="flex w-full flex-col gap-0.5 px-4 py-2 text-left text-sm -outline-offset-2 hover:bg-hover aria-[current=true]:bg-accent-soft"
                  >
                    <span className="line-clamp-2 wrap-anywhere">
                      {reason === null || reason === "" ? `Result ${id}` : <InlineText text={reason} />}
                    </span>
                    <span className="text-xs text-ink-3">
                      <InlineText text={model ?? "unnamed model"} /> · <Time at={created_at} />
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

function ModelRow({
  of: { model, evaluated, findings },
  kind,
}: {
  of: RecentErrorFindingsResponse["models"][number];
  kind: string | undefined;
}) {
  const count = findings.find(({ path }) => pathKey(path) === kind)?.count ?? 0;
  const share = evaluated === 0 ? 0 : count / evaluated;
  return (
    <li
      className="flex flex-col gap-1 text-sm"
      title={`Found in ${formatCount(count)} of the newest ${formatCount(evaluated)} evaluations of this model’s outputs.`}
    >
      <span className="flex justify-between gap-3">
        <span className="min-w-0 truncate">
          {model === null ? <span className="text-ink-3">Unnamed model</span> : <InlineText text={model} />}
        </span>
        <span className="whitespace-nowrap tabular-nums">
          {formatShare(share)}{" "}
          <span className="text-xs text-ink-3">
            {formatCount(count)} of {formatCount(evaluated)}
          </span>
        </span>
      </span>
      <span aria-hidden className="h-1.5 overflow-hidden rounded-full bg-sunken">
        <span className="block h-full rounded-full bg-fail" style={{ width: `${share * 100}%` }} />
      </span>
    </li>
  );
}

/** The address may hold anything. */
function readPath(key: string): string[] {
  try {
    const path: unknown = JSON.parse(key);
    return Array.isArray(path) ? path.map(String) : [];
  } catch {
    return [];
  }
}
