import { clsx } from "clsx";
import { FileUp } from "lucide-react";
import { type DragEvent, useId, useState } from "react";

interface FileInputProps {
  hasFiles: boolean;
  isDisabled: boolean;
  onChoose(files: File[]): void;
}

const importExtensions = ".json,.jsonl,.ndjson,.gz,.zst,.zip,.eval,.traj";

/** The browser's own input for files, onto which they can be dropped as well. */
export function FileInput({ hasFiles, isDisabled, onChoose }: FileInputProps) {
  const id = useId();
  const [isOver, setOver] = useState(false);

  function onDrop(event: DragEvent): void {
    event.preventDefault();
    setOver(false);
    const dropped = [...event.dataTransfer.files];
    if (dropped.length > 0 && !isDisabled) onChoose(dropped);
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
        "flex cursor-pointer items-center gap-3 rounded-md border border-dashed px-4 py-3 text-sm text-ink-2 has-focus-visible:outline-2 has-focus-visible:outline-accent",
        isOver ? "border-accent bg-accent-soft" : "border-line-strong hover:bg-hover",
      )}
    >
      <FileUp className="size-5 shrink-0 text-ink-3" aria-hidden />
      {hasFiles ? "Choose others, or drop them here" : "Choose one or more files, or drop them here"}
      <input
        id={id}
        type="file"
        multiple
        aria-label="Files"
        accept={importExtensions}
        disabled={isDisabled}
        className="sr-only"
        onChange={({ target }) => {
          const chosen = [...(target.files ?? [])];
          if (chosen.length > 0) onChoose(chosen);
          // So that the same file, mended, can be chosen again.
          target.value = "";
        }}
      />
    </label>
  );
}
