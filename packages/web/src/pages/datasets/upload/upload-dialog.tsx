import type { DatasetRevision } from "@presage/sdk";
import { CircleAlert } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useUploadRevision } from "../../../data/dataset-revisions.ts";
import { formatCount, formatSize } from "../../../format/numbers.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { TextField } from "../../../ui/form/fields.tsx";
import { fieldIssues, issueAt } from "../../../ui/form/form.tsx";
import { ErrorNotice } from "../../../ui/notice.tsx";
import { PlainText } from "../../../ui/untrusted-text/plain-text.tsx";
import { FileInput } from "./file-input.tsx";
import { readLineOf, readWrongLine } from "./wrong-line.ts";

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

/** `kitchen.test.jsonl.gz` becomes `kitchen.test`. */
function nameOf({ name }: File): string {
  return name.replace(/\.gz$/, "").replace(/\.(jsonl|ndjson|json|txt)$/, "");
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

/** Why a file was refused: the line by its number, with what stands there. */
function UploadProblem({ error, file }: { error: unknown; file: File | undefined }) {
  const wrong = readWrongLine(error);
  const text = useLine(file, wrong?.line);
  if (wrong === undefined) return <ErrorNotice error={error} />;
  return (
    <div
      role="alert"
      className="flex flex-col gap-2 rounded-lg border border-fail/30 bg-fail-soft p-3 text-sm"
    >
      <p className="flex items-start gap-2 font-medium text-fail">
        <CircleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
        <span>
          Line {formatCount(wrong.line)}
          {wrong.field !== "" && (
            <>
              , <code className="font-mono text-xs">{wrong.field}</code>
            </>
          )}
          : {wrong.reason}
        </span>
      </p>
      <p className="text-ink-2">
        Nothing of the file was kept. It is read up to the first wrong line, so there may be others behind it.
      </p>
      {text !== undefined && <PlainText text={text} label={`Line ${formatCount(wrong.line)}`} />}
    </div>
  );
}

function useLine(file: File | undefined, line: number | undefined): string | undefined {
  const [text, setText] = useState<string>();
  useEffect(() => {
    let isCurrent = true;
    setText(undefined);
    if (file !== undefined && line !== undefined)
      void readLineOf(file, line).then((found) => isCurrent && setText(found));
    return () => {
      isCurrent = false;
    };
  }, [file, line]);
  return text;
}

const formats = [
  {
    name: "Presage’s own",
    line: '{"trajectory_id": "kitchen-1", "step": 0, "interaction": {"state": "…", "action": "…"}, "next_state": "…"}',
    use: "One transition a line.",
  },
  {
    name: "Conversations",
    line: '{"id": "walk-1", "messages": [{"role": "user", "content": "…"}, {"role": "assistant", "content": "…"}]}',
    use: "Word2World, AgentGym: each assistant turn after a user turn is a next state.",
  },
  {
    name: "LLM-Sim",
    line: '{"game": "…", "state_id": 0, "current_state": {…}, "action_state": {…}, "tick_state": {…}}',
    use: "From the current to the tick state; a game is a trajectory.",
  },
  {
    name: "Predictions made elsewhere",
    line: '{"index": 0, "prediction_raw": "…", "reference": "…"}',
    use: "mdlm_world_modeling: the references become the dataset.",
  },
] as const;

/** The formats that the server knows; the fields of the first line tell which one it is. */
function FormatList() {
  return (
    <details className="group text-sm" open>
      <summary className="cursor-pointer text-xs font-medium text-ink-2">
        Formats: the fields of the first line tell which it is
      </summary>
      <dl className="mt-2 flex flex-col gap-2 text-xs">
        {formats.map(({ name, line, use }) => (
          <div key={name} className="rounded-md border border-line px-3 py-2">
            <dt className="font-medium">
              {name} <span className="font-normal text-ink-3">{use}</span>
            </dt>
            <dd>
              <code className="block font-mono wrap-anywhere text-ink-2">{line}</code>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
