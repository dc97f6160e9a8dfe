import { clsx } from "clsx";
import { FileUp } from "lucide-react";
import { type DragEvent, useId, useState } from "react";
import { formatSize } from "../../../format/numbers.ts";

interface FileInputProps {
  file: File | undefined;
  isDisabled: boolean;
  onChoose(file: File): void;
}

/** The browser's own file input, onto which a file can be dropped as well. */
export function FileInput({ file, isDisabled, onChoose }: FileInputProps) {
  const id = useId();
  const [isOver, setOver] = useState(false);

  function onDrop(event: DragEvent): void {
    event.preventDefault();
    setOver(false);
    const [dropped] = event.dataTransfer.files;
    if (dropped !== undefined && !isDisabled) onChoose(dropped);
  }

  return (
    <label
      htmlFor={id}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
      className={clsx(
        "flex cursor-pointer items-center gap-3 rounded-md border border-dashed px-4 py-3 text-sm has-focus-visible:outline-2 has-focus-visible:outline-accent",
        isOver ? "border-accent bg-accent-soft" : "border-line-strong hover:bg-hover",
      )}
    >
      <FileUp className="size-5 shrink-0 text-ink-3" aria-hidden />
      <span className="min-w-0 flex-1">
        {file === undefined ? (
          <span className="text-ink-2">Choose a file, or drop it here</span>
        ) : (
          <>
            <span className="block truncate font-medium">{file.name}</span>
            <span className="text-xs text-ink-3">{formatSize(file.size)}</span>
          </>
        )}
      </span>
      <input
        id={id}
        type="file"
        aria-label="File"
        accept=".jsonl,.ndjson,.json,.gz,.txt"
        disabled={isDisabled}
        className="sr-only"
        onChange={({ target }) => {
          const [chosen] = target.files ?? [];
          if (chosen !== undefined) onChoose(chosen);
          // So that the same file, mended, can be chosen again.
          target.value = "";
        }}
      />
    </label>
  );
}
