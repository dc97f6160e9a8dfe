import { CircleAlert } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { counted, formatCount } from "../../../format/numbers.ts";
import { Fold } from "../../../ui/card.tsx";
import { WithCode } from "../../../ui/code/code-block.tsx";
import { ErrorNotice } from "../../../ui/notice.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { type Fault, faultsOf, readLinesOf, unrecognised } from "./faults.ts";

interface ImportProblemProps {
  error: unknown;
  /** The files that were sent. */
  files: readonly File[];
  onRetry?: () => void;
}

/** Why files were refused: no format fits, or lines are faulty. */
export function ImportProblem({ error, files, onRetry }: ImportProblemProps) {
  const unknown = unrecognised(error);
  const { faults, total } = faultsOf(error);
  if (faults.length > 0) {
    return (
      <FaultList faults={faults} total={total} files={files}>
        <p className="text-ink-2">Nothing was stored. Mend the files, or leave the faulty lines out.</p>
      </FaultList>
    );
  }
  if (unknown === undefined) return <ErrorNotice error={error} {...(onRetry && { onRetry })} />;
  return (
    <Problem title="No format fits this file">
      <p className="wrap-anywhere text-ink-2">
        <InlineText text={`${unknown.reason}.`} />
      </p>
      <Fold title="What each format needs">
        <dl className="grid gap-x-4 gap-y-1 text-xs sm:grid-cols-[8rem_minmax(0,1fr)]">
          {unknown.formats.map(({ format, needs }) => (
            <div key={format} className="sm:col-span-2 sm:grid sm:grid-cols-subgrid">
              <dt className="font-mono">{format}</dt>
              <dd className="text-ink-2">
                <WithCode text={needs} />
              </dd>
            </div>
          ))}
        </dl>
      </Fold>
    </Problem>
  );
}

interface FaultListProps {
  faults: readonly Fault[];
  total: number;
  files: readonly File[];
  /** What happens to the faulty lines. */
  children?: ReactNode;
}

const maxShown = 10;

/** The first faults, each with the text of its line. */
export function FaultList({ faults, total, files, children }: FaultListProps) {
  const shown = faults.slice(0, maxShown);
  const [only, ...others] = files;
  const texts = useLines(
    others.length === 0 ? only : undefined,
    shown.flatMap(({ unit, number }) => (unit === "line" ? [number] : [])),
  );
  return (
    <Problem title={counted(total, "fault")}>
      <ol className="flex flex-col gap-1.5">
        {shown.map(({ file, unit, number, field, reason }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line may have the same fault twice
          <li key={index} className="min-w-0">
            <p className="wrap-anywhere">
              {file !== undefined && file !== only?.name && <InlineText text={`${file}: `} />}
              {unit === "line" ? "Line" : "Document"} {formatCount(number)}
              {field !== "" && (
                <>
                  , <code className="font-mono text-xs">{field}</code>
                </>
              )}
              : <InlineText text={reason} />
            </p>
            {texts.has(number) && (
              <code className="line-clamp-2 font-mono text-xs wrap-anywhere text-ink-2">
                <InlineText text={texts.get(number) ?? ""} />
              </code>
            )}
          </li>
        ))}
      </ol>
      {total > shown.length && <p className="text-ink-2">and {formatCount(total - shown.length)} more</p>}
      {children}
    </Problem>
  );
}

function Problem({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div
      role="alert"
      className="flex min-w-0 flex-col gap-2 rounded-lg border border-fail/30 bg-fail-soft p-3 text-sm"
    >
      <p className="flex items-center gap-2 font-medium text-fail">
        <CircleAlert className="size-4 shrink-0" aria-hidden />
        {title}
      </p>
      {children}
    </div>
  );
}

const noLines: ReadonlyMap<number, string> = new Map();

function useLines(file: File | undefined, numbers: readonly number[]): ReadonlyMap<number, string> {
  const [lines, setLines] = useState(noLines);
  const wanted = numbers.join();
  useEffect(() => {
    let isCurrent = true;
    setLines(noLines);
    if (file !== undefined && wanted !== "")
      void readLinesOf(file, wanted.split(",").map(Number)).then((found) => isCurrent && setLines(found));
    return () => {
      isCurrent = false;
    };
  }, [file, wanted]);
  return lines;
}
