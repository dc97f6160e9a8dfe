import type { DatasetRevision } from "@presage/sdk";
import { useRef, useState } from "react";
import { useUploadRevision } from "../../../data/runs/datasets.ts";
import { formatSize } from "../../../format/format-size.ts";
import { Button } from "../../../ui/button.tsx";
import { fieldIssues, issueAt } from "../../../ui/form/field-issues.ts";
import { TextField } from "../../../ui/form/text-field.tsx";
import { Dialog } from "../../../ui/overlay/dialog.tsx";
import { FileInput } from "./file-input.tsx";
import { FormatList } from "./format-list.tsx";
import { UploadProblem } from "./upload-problem.tsx";

interface UploadDialogProps {
  isOpen: boolean;
  onClose(): void;
  /** Whose next revision it is. Absent: of a new dataset. */
  dataset: { id: string; name: string } | undefined;
  onUploaded(uploaded: { id: string; revision: DatasetRevision }): void;
}

export function UploadDialog({ isOpen, onClose, dataset, onUploaded }: UploadDialogProps) {
  const upload = useUploadRevision();
  const [file, setFile] = useState<File>();
  const [name, setName] = useState("");
  const [sent, setSent] = useState(0);
  const abort = useRef<AbortController>(undefined);

  function close(): void {
    abort.current?.abort(new Error("The upload was cancelled."));
    upload.reset();
    setFile(undefined);
    setName("");
    onClose();
  }

  function choose(chosen: File): void {
    upload.reset();
    setFile(chosen);
    if (name === "" && dataset === undefined) setName(nameOf(chosen));
  }

  function submit(): void {
    if (file === undefined) return;
    abort.current = new AbortController();
    setSent(0);
    const target = dataset === undefined ? { name } : { id: dataset.id };
    upload.mutate(
      { dataset: target, file, signal: abort.current.signal, onProgress: setSent },
      {
        onSuccess(uploaded) {
          close();
          onUploaded(uploaded);
        },
      },
    );
  }

  const nameIssue = issueAt(fieldIssues(upload.error, "name"), "name");
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      title={dataset === undefined ? "Upload a dataset" : `Upload a revision of ${dataset.name}`}
      hint="JSON Lines, optionally gzipped. If a line is invalid, it is reported and nothing is stored."
      isWide
    >
      <form
        className="flex flex-col gap-4"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <FileInput file={file} isDisabled={upload.isPending} onChoose={choose} />
        {dataset === undefined && (
          <TextField label="Name" issue={nameIssue} value={name} onChange={setName} required />
        )}
        {upload.isPending && file !== undefined && <Progress share={sent} bytes={file.size} />}
        {upload.error !== null && nameIssue === undefined && (
          <UploadProblem error={upload.error} file={file} />
        )}
        <div className="flex items-center justify-end gap-2">
          <Button variant="quiet" onClick={close}>
            {upload.isPending ? "Cancel the upload" : "Cancel"}
          </Button>
          <Button
            type="submit"
            variant="primary"
            isBusy={upload.isPending}
            disabled={file === undefined || (dataset === undefined && name.trim() === "")}
          >
            Upload
          </Button>
        </div>
        <FormatList />
      </form>
    </Dialog>
  );
}

function Progress({ share, bytes }: { share: number; bytes: number }) {
  const isSent = share >= 1;
  return (
    <div className="flex flex-col gap-1 text-xs text-ink-2" role="status">
      <progress aria-label="Sent" value={share} className="h-1.5 w-full accent-accent" />
      <span className="tabular-nums">
        {isSent
          ? "All is sent; the last lines are being stored."
          : `${formatSize(Math.round(share * bytes))} of ${formatSize(bytes)}`}
      </span>
    </div>
  );
}

/** `kitchen.test.jsonl.gz` becomes `kitchen.test`. */
function nameOf({ name }: File): string {
  return name.replace(/\.gz$/, "").replace(/\.(jsonl|ndjson|json|txt)$/, "");
}
