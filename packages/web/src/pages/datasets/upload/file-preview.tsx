import type { ImportOptions, ImportPreview } from "@presage/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { X } from "lucide-react";
import { usePresage } from "../../../data/client.ts";
import { type ChosenFile, importPreviewQuery } from "../../../data/datasets.ts";
import { counted, countedIn, formatCount, formatSize } from "../../../format/numbers.ts";
import { Button, IconButton } from "../../../ui/button.tsx";
import { Fact, Fold } from "../../../ui/card.tsx";
import { actionOf, stateOf } from "../../../ui/steps/step-texts.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { PlainText } from "../../../ui/untrusted-text/plain-text.tsx";
import { describeLeftOut, describeRedacted } from "../import-facts.tsx";
import { previewFaults } from "./faults.ts";
import { FaultList, ImportProblem } from "./import-problem.tsx";

interface FilePreviewProps {
  chosen: ChosenFile;
  options: ImportOptions;
  /** Whether the file's first sample is shown without a click. */
  isOnly: boolean;
  isDisabled: boolean;
  onRemove(): void;
  onSkipFaults(): void;
}

/** What an upload of a file would store. While options change, the previous preview stays. */
export function FilePreview({
  chosen,
  options,
  isOnly,
  isDisabled,
  onRemove,
  onSkipFaults,
}: FilePreviewProps) {
  const { file } = chosen;
  const query = useQuery({
    ...importPreviewQuery(usePresage(), chosen, options),
    placeholderData: keepPreviousData,
  });
  const { data: preview, error, isFetching, isPlaceholderData } = query;
  const { faults, total } = preview === undefined ? { faults: [], total: 0 } : previewFaults(preview);
  const isSkipping = options.on_fault === "skip";
  return (
    <section aria-label={file.name} className="min-w-0 rounded-lg border border-line">
      <header className="flex min-h-10 items-center gap-3 border-b border-line bg-sunken py-1 pr-1.5 pl-3 text-xs text-ink-2">
        <h3 className="min-w-0 flex-1 truncate text-sm font-medium text-ink" title={file.name}>
          <InlineText text={file.name} />
        </h3>
        <span role="status" className="tabular-nums">
          {isFetching ? "Reading …" : preview && counted(preview.samples, "sample")}
        </span>
        <span className="tabular-nums max-sm:hidden">{formatSize(file.size)}</span>
        <IconButton
          label={`Remove ${file.name}`}
          icon={<X aria-hidden />}
          disabled={isDisabled}
          onClick={onRemove}
        />
      </header>
      <div
        className={clsx("flex flex-col gap-3 p-3", isPlaceholderData && "opacity-60")}
        aria-busy={isFetching}
      >
        {preview === undefined && error === null && (
          <p className="text-sm text-ink-3">Nothing is stored until you import.</p>
        )}
        {error !== null && !isFetching && (
          <ImportProblem error={error} files={[file]} onRetry={query.refetch} />
        )}
        {preview !== undefined && <Figures preview={preview} />}
        {faults.length > 0 && (
          <FaultList faults={faults} total={total} files={[file]}>
            <p className="flex flex-wrap items-center gap-2 text-ink-2">
              {isSkipping ? "They are left out." : "Nothing can be imported with faults."}
              {!isSkipping && (
                <Button size="small" onClick={onSkipFaults}>
                  Leave them out
                </Button>
              )}
            </p>
          </FaultList>
        )}
        {preview !== undefined && <FirstSample preview={preview} isOpen={isOnly} />}
      </div>
    </section>
  );
}

function Figures({ preview }: { preview: ImportPreview }) {
  const {
    files,
    trajectories,
    samples,
    tools,
    with: having,
    left_out,
    redacted,
    repaired,
    complete,
    warnings = [],
  } = preview;
  const layouts = new Map(
    files.map(({ format, recognised_by }) => [`${format} ${recognised_by}`, { format, recognised_by }]),
  );
  const recorded = [
    { what: "time of the answer", count: having.time },
    { what: "tokens or cost", count: having.usage },
    { what: "reward", count: having.reward },
    { what: "whether the episode ended", count: having.done },
  ];
  const found = recorded.filter(({ count }) => count > 0);
  const share = (count: number) =>
    count === samples ? "all" : `${formatCount(count)} of ${formatCount(samples)}`;
  const facts: [string, string][] = [
    ["Samples with", found.map(({ what, count }) => `${what} (${share(count)})`).join(", ")],
    ["Without", recorded.flatMap((one) => (samples === 0 || found.includes(one) ? [] : one.what)).join(", ")],
    ["Left out", describeLeftOut(left_out)],
    ["Redacted", describeRedacted(redacted)],
    ["Repaired", repaired === 0 ? "" : `${counted(repaired, "text")} with NUL or lone surrogates`],
  ];
  return (
    <dl className="grid gap-x-4 gap-y-1 text-sm sm:grid-cols-[7rem_minmax(0,1fr)]">
      <Fact look="row" name="Format">
        {[...layouts].map(([key, { format, recognised_by }]) => (
          <span key={key} className="block">
            <span className="font-medium">{format}</span>{" "}
            <span className="text-ink-2">recognised by {recognised_by}</span>
          </span>
        ))}
      </Fact>
      <Fact look="row" name="Found">
        {countedIn(samples, trajectories)}
        {!complete && (
          <span className="block text-warn">
            Only the first 64 MiB were read for this preview. The import reads all.
          </span>
        )}
      </Fact>
      {tools.length > 0 && (
        <Fact look="row" name="Tools">
          <InlineText text={tools.join(", ")} />
        </Fact>
      )}
      {warnings.length > 0 && (
        <Fact look="row" name="Passed over">
          <InlineText text={warnings.join(" ")} />
        </Fact>
      )}
      {facts.map(
        ([name, text]) =>
          text !== "" && (
            <Fact key={name} look="row" name={name}>
              {text}
            </Fact>
          ),
      )}
    </dl>
  );
}

function FirstSample({ preview, isOpen }: { preview: ImportPreview; isOpen: boolean }) {
  const [sample] = preview.first;
  if (sample === undefined) return null;
  return (
    <Fold
      title="First sample"
      note={<InlineText text={`${sample.trajectory_id}, step ${sample.step}`} />}
      isOpen={isOpen}
    >
      <div className="contents [&_pre]:max-h-40">
        <PlainText text={stateOf(sample)} label="State" />
        <PlainText text={actionOf(sample)} label="Action" />
        <PlainText text={sample.next_state} label="Next state" />
      </div>
    </Fold>
  );
}
