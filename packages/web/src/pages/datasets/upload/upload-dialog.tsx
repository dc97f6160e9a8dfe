import type { DatasetRevision, ImportPreview } from "@presage/sdk";
import { useQueries, useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { FileUp } from "lucide-react";
import { type DragEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { usePresage } from "../../../data/client.ts";
import {
  type ChosenFile,
  importFormatsQuery,
  importPreviewQuery,
  type NewUpload,
  useUploadRevision,
} from "../../../data/datasets.ts";
import { counted, formatSize } from "../../../format/numbers.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { TextField } from "../../../ui/form/fields.tsx";
import { fieldIssues, issueAt } from "../../../ui/form/form.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { FilePreview } from "./file-preview.tsx";
import { type ChosenOptions, ImportOptionFields, LayoutList } from "./import-options.tsx";
import { ImportProblem } from "./import-problem.tsx";

interface UploadDialogProps {
  isOpen: boolean;
  onClose(): void;
  /** The dataset to add a revision to. Absent: a new dataset. */
  dataset: { id: string; name: string; latest_revision: DatasetRevision | null } | undefined;
  onUploaded(uploaded: { id: string; revision: DatasetRevision }): void;
}

export function UploadDialog({ isOpen, onClose, dataset, onUploaded }: UploadDialogProps) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={dataset === undefined ? "Upload a dataset" : `Upload a revision of ${dataset.name}`}
      hint="Recorded traces in any format that Presage reads. You see what becomes of them before anything is stored."
      isWide
      hasForm
    >
      <UploadForm onClose={onClose} dataset={dataset} onUploaded={onUploaded} />
    </Dialog>
  );
}

function UploadForm({ onClose, dataset, onUploaded }: Omit<UploadDialogProps, "isOpen">) {
  const presage = usePresage();
  const upload = useSending((uploaded) => {
    onClose();
    onUploaded(uploaded);
  });
  const [files, setFiles] = useState<ChosenFile[]>([]);
  const [options, setOptions] = useState<ChosenOptions>({});
  const [name, setName] = useState("");
  const sent = files.map(({ file }) => file);
  const { append: _, ...read } = options;
  const formats = useQuery(importFormatsQuery(presage)).data ?? [];
  const results = useQueries({
    queries: files.map((chosen) => importPreviewQuery(presage, chosen, read)),
  });
  const previews = results.map(({ data }) => data);
  const unread = files.filter((_, index) => isUnread(results[index]));

  function choose(chosen: readonly File[]): void {
    upload.reset();
    const now = Date.now();
    setFiles(chosen.map((file, index) => ({ id: `${now}-${index}`, file })));
    if (name === "" && dataset === undefined && chosen[0] !== undefined) setName(nameOf(chosen[0]));
  }

  const nameIssue = issueAt(fieldIssues(upload.error, "name"), "name");
  const canImport = mayImport(previews, options) && (dataset !== undefined || name.trim() !== "");
  return (
    <form
      className="-mb-5 flex flex-col gap-4 [&_*]:scroll-mb-20"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const target = dataset === undefined ? { name: name.trim() } : { id: dataset.id };
        if (canImport) upload.start({ dataset: target, files: sent, options });
      }}
    >
      <FileInput hasFiles={files.length > 0} isDisabled={upload.isPending} onChoose={choose} />
      <ImportOptionFields
        options={options}
        onChange={setOptions}
        formats={formats}
        canAppend={dataset !== undefined && dataset.latest_revision !== null}
      >
        {dataset === undefined && (
          <TextField label="Name" issue={nameIssue} value={name} onChange={setName} required />
        )}
      </ImportOptionFields>
      {files.map((chosen) => (
        <FilePreview
          key={chosen.id}
          chosen={chosen}
          options={read}
          isOnly={files.length === 1}
          isDisabled={upload.isPending}
          onRemove={() => setFiles(files.filter((one) => one !== chosen))}
          onSkipFaults={() => setOptions({ ...options, on_fault: "skip" })}
        />
      ))}
      <LayoutList formats={formats} />
      {upload.error !== null && nameIssue === undefined && (
        <div ref={scrollTo}>
          <ImportProblem error={upload.error} files={sent} />
        </div>
      )}
      <Footer
        sending={upload.isPending ? { share: upload.share, bytes: sizeOf(sent) } : undefined}
        onCancel={onClose}
        canImport={canImport}
        label={importLabel(previews)}
      >
        {unread.length > 0 && unread.length < files.length && (
          <Unread files={unread} onLeaveOut={() => setFiles(files.filter((one) => !unread.includes(one)))} />
        )}
      </Footer>
    </form>
  );
}

/** Sends files, and reports the share that has been sent. Closing the dialog cancels the upload. */
function useSending(onSent: UploadDialogProps["onUploaded"]) {
  const { mutate, error, isPending, reset } = useUploadRevision();
  const [share, setShare] = useState(0);
  const abort = useRef<AbortController>(undefined);
  useEffect(() => () => abort.current?.abort(new Error("The upload was cancelled.")), []);
  function start(wanted: Pick<NewUpload, "dataset" | "files" | "options">): void {
    abort.current = new AbortController();
    setShare(0);
    mutate({ ...wanted, signal: abort.current.signal, onProgress: setShare }, { onSuccess: onSent });
  }
  return { start, share, error, isPending, reset };
}

/** Needed because a problem may be far below the visible part. */
function scrollTo(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: "nearest" });
}

/** Whether a file contains nothing to import. */
function isUnread(result: { data: ImportPreview | undefined; error: unknown } | undefined): boolean {
  const { data, error } = result ?? {};
  return Boolean(error) || (data?.samples === 0 && data.faults.length > 0);
}

/** Whether all files have been read, and contain nothing that would make the server refuse the import. */
function mayImport(previews: readonly (ImportPreview | undefined)[], { on_fault }: ChosenOptions): boolean {
  const isGood = (preview: ImportPreview | undefined) =>
    preview !== undefined && (preview.faults.length === 0 || on_fault === "skip");
  return previews.every(isGood) && previews.some((preview) => preview !== undefined && preview.samples > 0);
}

/** “Import 4 samples”, once all files have been read. */
function importLabel(previews: readonly (ImportPreview | undefined)[]): string {
  const read = previews.flatMap((preview) => preview ?? []);
  const samples = read.reduce((sum, preview) => sum + preview.samples, 0);
  if (samples === 0 || read.length < previews.length) return "Import";
  return `Import ${read.every(({ complete }) => complete) ? "" : "over "}${counted(samples, "sample")}`;
}

function sizeOf(files: readonly File[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

/** `kitchen.test.jsonl.gz` becomes `kitchen.test`. */
function nameOf({ name }: File): string {
  return name.replace(/(?<=.)(\.(jsonl?|ndjson|txt|eval|traj|gz|zst|zip))+$/i, "");
}

/** Shown near the button, since the file that prevents the import of all others may be far above or below. */
function Unread({ files, onLeaveOut }: { files: readonly ChosenFile[]; onLeaveOut(): void }) {
  const [first] = files;
  return (
    <p role="status" className="flex min-w-0 flex-wrap items-center justify-end gap-2 text-sm text-ink-2">
      <span className="min-w-0 truncate">
        {files.length === 1 ? <InlineText text={first?.file.name ?? ""} /> : counted(files.length, "file")}{" "}
        cannot be read.
      </span>
      <Button size="small" onClick={onLeaveOut}>
        Leave {files.length === 1 ? "it" : "them"} out
      </Button>
    </p>
  );
}

interface FooterProps {
  children: ReactNode;
  /** Undefined unless files are being sent. */
  sending: ProgressProps | undefined;
  onCancel(): void;
  canImport: boolean;
  label: string;
}

/** Stays visible wherever the dialog is scrolled to. */
function Footer({ sending, onCancel, canImport, label, children }: FooterProps) {
  const isSending = sending !== undefined;
  return (
    <div className="sticky -bottom-5 -mx-5 flex flex-col gap-2 rounded-b-xl border-t border-line bg-surface px-5 py-3">
      {isSending ? <Progress {...sending} /> : children}
      <div className="flex items-center justify-end gap-2">
        <Button variant="quiet" onClick={onCancel}>
          {isSending ? "Cancel the upload" : "Cancel"}
        </Button>
        <Button type="submit" variant="primary" isBusy={isSending} disabled={!canImport}>
          {label}
        </Button>
      </div>
    </div>
  );
}

interface ProgressProps {
  /** The share that has been sent, from 0 to 1. */
  share: number;
  bytes: number;
}

function Progress({ share, bytes }: ProgressProps) {
  const isSent = share >= 1;
  return (
    <div className="flex flex-col gap-1 text-xs text-ink-2" role="status">
      <progress aria-label="Sent" value={share} className="h-1.5 w-full accent-accent" />
      <span className="tabular-nums">
        {isSent
          ? "Everything has been sent; the last lines are being stored."
          : `${formatSize(Math.round(share * bytes))} of ${formatSize(bytes)}`}
      </span>
    </div>
  );
}

interface FileInputProps {
  hasFiles: boolean;
  isDisabled: boolean;
  onChoose(files: File[]): void;
}

const importExtensions = ".json,.jsonl,.ndjson,.gz,.zst,.zip,.eval,.traj";

const isImportable = ({ name }: File) =>
  importExtensions.split(",").some((extension) => name.toLowerCase().endsWith(extension));

/** Dropped files, and the files of dropped folders that look like traces, in the order of their names. */
async function droppedFiles({ items, files }: DataTransfer): Promise<File[]> {
  // The items are no longer available after the first `await`.
  const entries = [...items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const alone = [...files];
  if (!entries.some(({ isDirectory }) => isDirectory)) return alone;
  const found = await Promise.all(entries.map(filesUnder));
  return found.flat();
}

async function filesUnder(entry: FileSystemEntry): Promise<File[]> {
  if (!entry.isDirectory) {
    // The flag tells the type of the entry.
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    );
    return [file];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const inside: FileSystemEntry[] = [];
  // Each call returns up to a hundred entries.
  for (let some = [entry]; some.length > 0; inside.push(...some))
    some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
  inside.sort((a, b) => (a.name < b.name ? -1 : 1));
  const found = await Promise.all(inside.map(filesUnder));
  return found.flat().filter(isImportable);
}

/** The browser's own file input, which also accepts dropped files. */
function FileInput({ hasFiles, isDisabled, onChoose }: FileInputProps) {
  const id = useId();
  const [isOver, setOver] = useState(false);

  function onDrop(event: DragEvent): void {
    event.preventDefault();
    setOver(false);
    if (isDisabled) return;
    void droppedFiles(event.dataTransfer).then((dropped) => {
      if (dropped.length > 0) onChoose(dropped);
    });
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
      {hasFiles
        ? "Choose others, or drop them here"
        : "Choose one or more files, or drop them or their folder here"}
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
          // Allows choosing the same file again after it has been fixed.
          target.value = "";
        }}
      />
    </label>
  );
}
